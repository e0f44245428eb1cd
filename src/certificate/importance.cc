#include "certificate/importance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/constants.h"
#include "base/golden_sections.h"
#include "certificate/part_term.h"

namespace kweave {

namespace {

// Relative, of dual terms: closed forms over a million kernels, searches for roots, small quadratic programs.
constexpr double kTermError = 1e-12;
// Dual terms that are no norm cost O(M) and more each, and every kernel asks for some twenty of them: less
// than a second up to here.
constexpr std::size_t kMostSlowKernels = 200;
// Shares by a search of their own cost O(M) for every trial: some milliseconds up to here.
constexpr std::size_t kMostSharesSearched = 200;
// From so many parts on a bound within a per cent of the best is good enough.
constexpr std::size_t kManyParts = 2000;
constexpr int kSections = 20;  // of an interval of log 16: to 2e-4 in log t, which is 1e-8 of the bound
constexpr double kStep = 1.4;  // of log t, about a factor of 4
constexpr double kRange = 80;  // of log t: what float64 holds of ratios
constexpr int kPrices = 40;    // steps of the scale of a dual point, each half as far from 1 as the last

// Where a function of log t with one valley is smallest, from `x`, which becomes that place. Returns its
// value.
template <class Function>
double FindLowest(const Function& f, double& x, bool is_rough) {
  const double first = x;
  double value = f(x), right = f(x + kStep), left = kInfinity;
  const double direction = right < value ? kStep : -kStep;
  double ahead = direction > 0 ? right : (left = f(x - kStep));
  double behind = direction > 0 ? kInfinity : right;
  while (ahead < value && std::abs(x - first) < kRange) {
    behind = value;
    x += direction;
    value = ahead;
    ahead = f(x + direction);
  }
  if (!std::isfinite(value)) return value;
  double best = value, place = x;
  const auto try_at = [&](double other) {
    const double there = f(other);
    if (there < best) best = there, place = other;
  };
  if (!is_rough) {
    try_at(SmallestByGoldenSections(x - kStep, x + kStep, kSections, f));
  } else if (std::isfinite(ahead) && std::isfinite(behind) && ahead + behind > 2 * value) {
    try_at(x + 0.5 * direction * (behind - ahead) / (ahead + behind - 2 * value));  // of a parabola
  }
  x = place;
  return best;
}

// One dual point's set.
class CutBounds {
 public:
  // `floor` is L - P.
  CutBounds(const Regularizer& regularizer, std::vector<double> q, double floor, std::size_t parts)
      : term_(regularizer, std::move(q)), is_rough_(parts >= kManyParts) {
    const double whole = regularizer.DualTerm(term_.q());
    floor_ = std::min(floor, whole);
    slack_ = kTermError * std::abs(whole);
    const double largest = *std::ranges::max_element(term_.q());
    guess_ = std::log(std::max(largest, kTiny)) +
             0.5 * std::log(std::max((whole - floor_) / std::max(std::abs(whole), kTiny), kTermError));
    above_ = below_ = guess_;
  }

  // Infinite where nothing bounds.
  WeightInterval Weights(std::span<const Index> part) {
    term_.Choose(part);
    const double kink = term_.Kink();
    const auto lowest = [&](double sign, double& log_t) {
      const auto bound = [&](double x) { return Bound(x, sign); };
      if (!(kink > 0)) return FindLowest(bound, log_t, is_rough_);
      log_t = std::log(0.5 * kink);  // nowhere else does the bound bend
      return bound(log_t);
    };
    const double upper = std::min(lowest(1, above_), term_.Cap());
    const double lower = -lowest(-1, below_);
    return {std::max(lower, 0.0), std::max(upper, 0.0)};
  }

  // The share of the part just asked for, from the x known so far: (c - x 1)' theta <= excess / t, and where
  // that is below 0 the share is below x by the excess over t and the sum of all weights.
  WeightInterval Share(WeightInterval known, double largest_total) const {
    for (const double away : {0.0, -0.7, 0.7, 0.0}) {  // of log t from where the weights had it
      const double t = std::exp(above_ + away), s = std::exp(below_ + away);
      known.upper += std::min(Excess(t, known.upper, 1), 0.0) / (t * largest_total);
      known.lower -= std::min(Excess(s, known.lower, -1), 0.0) / (s * largest_total);
    }
    return known;
  }

 private:
  double Bound(double log_t, double sign) const {
    const double t = std::exp(log_t);
    const double term = term_.At(sign * 2 * t);
    return (term + slack_ + kTermError * std::abs(term) - floor_) / t;
  }

  // R*(q + 2 t sign (c - x 1)) - floor.
  double Excess(double t, double x, double sign) const {
    const double term = term_.At(sign * 2 * t, sign * 2 * t * x);
    return term + slack_ + kTermError * std::abs(term) - floor_;
  }

  PartTerm term_;
  double floor_, slack_, guess_;
  double above_, below_;  // log t of the last search
  bool is_rough_;
};

// A price on the sum of the weights: sum_m (cost - 1/2 s^2 q_m) theta_m <= P - s L for every scale s of the
// dual point that leaves no factor below 0. Nothing bounds weights from below.
class PricedBounds {
 public:
  PricedBounds(double cost, const WeightCut& cut, double primal) : cost_(cost), cut_(cut), primal_(primal) {
    const double largest = *std::ranges::max_element(cut.quadratics);
    const double most = largest > 2 * cost ? std::sqrt(2 * cost / largest) : 1;
    for (int k = 0; k < kPrices; ++k) {
      const double s = most * (1 - std::exp2(-k));
      if (cut.may_scale) scales_.push_back(s);
    }
    if (most == 1) scales_.push_back(1);
  }

  WeightInterval Weights(std::span<const Index> part) const {
    double largest = 0, upper = kInfinity;
    for (const Index m : part) largest = std::max(largest, cut_.quadratics[static_cast<std::size_t>(m)]);
    for (const double s : scales_) {
      const double factor = cost_ - 0.5 * s * s * largest - kTermError * cost_;
      const double excess = primal_ - s * cut_.linear + kTermError * std::abs(primal_);
      if (factor > 0) upper = std::min(upper, std::max(excess, 0.0) / factor);
    }
    return {0, upper};
  }

 private:
  double cost_;
  const WeightCut& cut_;
  double primal_;
  std::vector<double> scales_;
};

// The numbers of all kernels, of which parts may be taken.
std::vector<Index> AllKernels(std::size_t count) {
  std::vector<Index> all(count);
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

// Parts in turn, or single kernels where there are none.
class PartList {
 public:
  PartList(std::size_t kernels, const KernelParts* parts) : all_(AllKernels(kernels)), parts_(parts) {}
  std::size_t size() const { return parts_ != nullptr ? parts_->size() : all_.size(); }
  std::span<const Index> all() const { return all_; }
  std::span<const Index> operator[](std::size_t k) const {
    return parts_ != nullptr ? std::span<const Index>((*parts_)[k]) : all().subspan(k, 1);
  }

 private:
  std::vector<Index> all_;
  const KernelParts* parts_;
};

void Intersect(const WeightInterval& other, WeightInterval& with) {
  with.lower = std::max(with.lower, other.lower);
  with.upper = std::min(with.upper, other.upper);
}

// What the sums of weights say of the shares.
WeightInterval ShareOf(const WeightInterval& weight, const WeightInterval& total) {
  WeightInterval share{0, 1};
  if (total.upper > 0) share.lower = std::min(weight.lower / total.upper, 1.0);
  if (total.lower > 0) share.upper = std::min(weight.upper / total.lower, 1.0);
  return share;
}

std::string WhyUnknown(const Regularizer& regularizer, const Certificate& certificate) {
  if (!regularizer.is_minimized()) return regularizer.Name() + " does not minimise over the weights";
  if (certificate.cuts.empty() || !std::isfinite(certificate.primal)) return "no gap could be certified";
  const bool is_priced = regularizer.linear() && regularizer.linear()->cost > 0;
  const std::size_t kernels = certificate.cuts[0].quadratics.size();
  if (!regularizer.dual_norm() && !is_priced && kernels > kMostSlowKernels)
    return regularizer.Name() + " is too slow to search with so many kernels";
  return "";
}

// Adds what one dual point says.
void AddCut(const Regularizer& regularizer, const WeightCut& cut, double primal, const PartList& parts,
            Importance& importance) {
  if (regularizer.linear() && regularizer.linear()->cost > 0) {
    const PricedBounds bounds(regularizer.linear()->cost, cut, primal);
    Intersect(bounds.Weights(parts.all()), importance.total);
    for (std::size_t k = 0; k < parts.size(); ++k) Intersect(bounds.Weights(parts[k]), importance.weights[k]);
    return;
  }
  const double scale = cut.may_scale ? BestScale(regularizer, cut.linear, cut.quadratics) : 1;
  std::vector<double> q = cut.quadratics;
  for (double& value : q) value *= scale * scale;
  const double rounding = kFewRoundings * (std::abs(cut.linear) + std::abs(primal));
  CutBounds bounds(regularizer, std::move(q), scale * cut.linear - primal - rounding, parts.size());
  Intersect(bounds.Weights(parts.all()), importance.total);
  if (regularizer.sum_is_one()) importance.total = {1, 1};
  const bool searches_shares =
      parts.all().size() <= kMostSharesSearched && importance.total.upper < kInfinity;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    WeightInterval& weight = importance.weights[k];
    Intersect(bounds.Weights(parts[k]), weight);
    Intersect(ShareOf(weight, importance.total), importance.shares[k]);
    if (searches_shares && !regularizer.sum_is_one())
      importance.shares[k] = bounds.Share(importance.shares[k], importance.total.upper);
  }
}

Importance Find(const Regularizer& regularizer, const Certificate& certificate, const KernelParts* parts) {
  Importance importance;
  importance.reason = WhyUnknown(regularizer, certificate);
  if (!importance.reason.empty()) return importance;
  const PartList list(certificate.cuts[0].quadratics.size(), parts);
  importance.total = {0, kInfinity};
  importance.weights.assign(list.size(), {0, kInfinity});
  importance.shares.assign(list.size(), {0, 1});
  if (const std::vector<double>& least = regularizer.least_weights(); !least.empty()) {
    for (std::size_t k = 0; k < list.size(); ++k)
      for (const Index m : list[k]) importance.weights[k].lower += least[static_cast<std::size_t>(m)];
  }
  // A dual above the primal says that rounding is larger than its bounds, at least by what they are apart.
  const double primal = certificate.primal + 2 * std::max(certificate.dual - certificate.primal, 0.0);
  for (const WeightCut& cut : certificate.cuts) AddCut(regularizer, cut, primal, list, importance);
  for (std::size_t k = 0; k < list.size(); ++k) {
    Intersect(ShareOf(importance.weights[k], importance.total), importance.shares[k]);
    if (list[k].size() == list.all().size()) importance.shares[k] = {1, 1};
  }
  return importance;
}

}  // namespace

Importance FindImportance(const Regularizer& regularizer, const Certificate& certificate) {
  return Find(regularizer, certificate, nullptr);
}

Importance FindImportance(const Regularizer& regularizer, const Certificate& certificate,
                          const KernelParts& parts) {
  return Find(regularizer, certificate, &parts);
}

// The share of the means is a mean of the shares, by the sums of the machines' weights, which are known
// roughly.
Importance MeanImportance(std::span<const Importance> machines) {
  Importance mean;
  for (const Importance& one : machines) {
    if (!one.is_known()) return one;
  }
  const auto count = static_cast<double>(machines.size());
  const std::size_t parts = machines[0].weights.size();
  mean.weights.assign(parts, {0, 0});
  mean.shares.assign(parts, {1, 0});
  for (const Importance& one : machines) {
    mean.total.lower += one.total.lower / count;
    mean.total.upper += one.total.upper / count;
    for (std::size_t k = 0; k < parts; ++k) {
      mean.weights[k].lower += one.weights[k].lower / count;
      mean.weights[k].upper += one.weights[k].upper / count;
      mean.shares[k].lower = std::min(mean.shares[k].lower, one.shares[k].lower);
      mean.shares[k].upper = std::max(mean.shares[k].upper, one.shares[k].upper);
    }
  }
  for (std::size_t k = 0; k < parts; ++k) Intersect(ShareOf(mean.weights[k], mean.total), mean.shares[k]);
  return mean;
}

double ShareError(const Importance& importance, std::span<const double> theta) {
  const double total = std::accumulate(theta.begin(), theta.end(), 0.0);
  if (!importance.is_known() || !(total > 0)) return kInfinity;
  double error = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    const WeightInterval& share = importance.shares[m];
    error = std::max({error, share.upper - theta[m] / total, theta[m] / total - share.lower});
  }
  return error;
}

}  // namespace kweave
