#include "regularizer/mixed_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/constants.h"
#include "kweave/error.h"
#include "regularizer/lp_norm.h"
#include "regularizer/mixed_projection.h"
#include "regularizer/norms.h"

namespace kweave {

namespace {

constexpr double kLeastPart = 1e-6;  // of the norm of its group: bounds the weights of parts that vanish

std::size_t At(int group) { return static_cast<std::size_t>(group); }

std::vector<double> Roots(std::span<const double> q) {
  std::vector<double> roots(q.size());
  for (std::size_t m = 0; m < q.size(); ++m) roots[m] = std::sqrt(std::max(q[m], 0.0));
  return roots;
}

// (part / whole)^(r - 2), the weight that a part has on the side with exponent r >= 1: for r = infinity all
// goes to the largest; for r < 2 a part without size has none to bound it.
double WeightOfPart(double part, double whole, double r) {
  if (part <= 0 || whole <= 0) return 0;
  if (r == kInfinity) return part >= whole ? 1 : 0;
  const double ratio = r < 2 ? std::max(part / whole, kLeastPart) : part / whole;
  return std::pow(ratio, r - 2);
}

void RequireExponent(std::string_view name, double value) {
  if (!(value >= 1)) {
    throw Error(ErrorKind::kUsage, fmt::format("{} is {}, but must be from 1 to inf", name, value));
  }
}

// p of the weights that belong to the block norm P <= 2. Where P came from a whole p, that is what comes
// back: 1, 2 and infinity are much cheaper than numbers near them.
double WeightExponent(double P) {
  if (P == 2) return kInfinity;
  const double p = P / (2 - P);
  const double whole = std::round(p);
  return std::abs(p - whole) <= 1e-14 * p * p ? whole : p;
}

std::size_t CountGroups(std::span<const int> groups) {
  std::size_t count = 0;
  for (const int group : groups) count = std::max(count, At(group) + 1);
  return count;
}

// With an infinite exponent it is not where a part vanishes, which parts of few dimensions do.
bool IsDualSmooth(double P, double Q, double spread) {
  const bool bounds_weights = std::isfinite(P) && std::isfinite(Q);
  return P > 1 && Q > 1 && (bounds_weights || spread > 0);
}

// 1 over groups, more within them. With 2 over the groups the dual term is that of the sum. With 1 within
// them too, every kernel is a part of its own.
std::optional<LargestPart> LargestPartOf(const std::vector<int>& groups, double P, double Q) {
  if (P != 1) return std::nullopt;
  if (Q == 1) {
    std::vector<int> singles(groups.size());
    std::iota(singles.begin(), singles.end(), 0);
    auto sum = std::make_shared<const MixedNorm>(singles, 2, 2);
    return LargestPart{std::move(singles), std::move(sum)};
  }
  auto sum = std::make_shared<const MixedNorm>(groups, 2, Q);
  if (!sum->is_dual_smooth()) return std::nullopt;
  return LargestPart{groups, std::move(sum)};
}

RegularizerTraits TraitsOf(const std::vector<int>& groups, double P, double Q, double spread) {
  RequireExponent("block-norm", P);
  RequireExponent("inner block norm", Q);
  const bool is_minimized = P <= 2 && Q <= 2;
  return {
      .name = CountGroups(groups) <= 1
                  ? fmt::format("block norm {}", P)
                  : fmt::format("block norm {} over groups with block norm {} within", P, Q),
      .is_minimized = is_minimized,
      .is_dual_smooth = IsDualSmooth(P, Q, spread),
      // Not where the exponents lie on both sides of 2: neither minimum nor maximum is what is looked for.
      .has_analytic_update = is_minimized || (P >= 2 && Q >= 2),
      .has_projection = is_minimized,
      .least_step_share = P == 1 || Q == 1 ? kSparseStepShare : 0,
      .largest_part = LargestPartOf(groups, P, Q)};
}

}  // namespace

MixedNorm::MixedNorm(std::vector<int> groups, double P, double Q, double spread)
    : Regularizer(TraitsOf(groups, P, Q, spread)),
      groups_(std::move(groups)),
      group_count_(CountGroups(groups_)),
      P_(P),
      Q_(Q),
      spread_(spread) {
  if (!is_minimized() || spread > 0) return;
  traits().dual_norm =
      DualNorm{ConjugateExponent(WeightExponent(Q)), ConjugateExponent(WeightExponent(P)), groups_};
}

std::vector<double> MixedNorm::RootsOf(std::span<const double> q) const {
  if (spread_ == 0) return Roots(q);
  std::vector<double> spread = Spread(q, spread_);
  return Roots(spread);
}

MixedNorm::Norms MixedNorm::Measure(std::span<const double> x, double inner, double outer) const {
  std::vector<std::vector<double>> parts(group_count_);
  for (std::size_t m = 0; m < x.size(); ++m) parts[At(groups_[m])].push_back(x[m]);
  Norms norms;
  for (const std::vector<double>& part : parts) norms.of_group.push_back(PositiveNorm(part, inner));
  norms.whole = PositiveNorm(norms.of_group, outer);
  return norms;
}

double MixedNorm::Primal(std::span<const double> theta, std::span<const double> q) const {
  if (is_minimized()) return Regularizer::Primal(theta, q);
  std::vector<double> u = Roots(q);
  for (std::size_t m = 0; m < u.size(); ++m) u[m] *= theta[m];
  const double whole = Measure(u, Q_, P_).whole;
  return 0.5 * whole * whole;
}

double MixedNorm::DualTerm(std::span<const double> q) const {
  const double whole = Measure(RootsOf(q), ConjugateExponent(Q_), ConjugateExponent(P_)).whole;
  return 0.5 * whole * whole;
}

void MixedNorm::BestResponse(std::span<const double> q, std::span<double> theta) const {
  const double inner = ConjugateExponent(Q_), outer = ConjugateExponent(P_);
  const std::vector<double> roots = RootsOf(q);
  const Norms norms = Measure(roots, inner, outer);
  std::vector<bool> is_taken(group_count_, false);  // only one of several largest gets all
  bool is_group_taken = false;
  std::size_t taken_group = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    const std::size_t g = At(groups_[m]);
    theta[m] = WeightOfPart(norms.of_group[g], norms.whole, outer) *
               WeightOfPart(roots[m], norms.of_group[g], inner);
    if (theta[m] == 0) continue;
    if (outer == kInfinity && is_group_taken && taken_group != g) theta[m] = 0;
    if (inner == kInfinity && is_taken[g]) theta[m] = 0;
    is_taken[g] = true;
    is_group_taken = true;
    if (theta[m] > 0) taken_group = g;
  }
  SpreadBack(spread_, theta);
}

// Equal parts everywhere.
void MixedNorm::Start(std::span<double> theta) const {
  std::vector<double> sizes(group_count_, 0.0);
  for (const int group : groups_) sizes[At(group)] += 1;
  const auto share = [](double count, double exponent) {
    return std::pow(count, exponent == kInfinity ? 1 : (exponent - 2) / exponent);
  };
  for (std::size_t m = 0; m < theta.size(); ++m) {
    theta[m] = share(static_cast<double>(group_count_), P_) * share(sizes[At(groups_[m])], Q_);
  }
}

double MixedNorm::ThetaNorm(std::span<const double> theta) const {
  return Measure(theta, WeightExponent(Q_), WeightExponent(P_)).whole;
}

double MixedNorm::ThetaNormGradient(std::span<const double> theta, std::span<double> gradient) const {
  const double inner = WeightExponent(Q_), outer = WeightExponent(P_);
  const Norms norms = Measure(theta, inner, outer);
  const auto slope = [](double part, double whole, double exponent) {
    if (!(whole > 0)) return 0.0;
    if (exponent == kInfinity) return part >= whole ? 1.0 : 0.0;
    return std::pow(std::max(part, 0.0) / whole, exponent - 1);
  };
  std::vector<double> taken(group_count_, 0.0);  // of several largest only the first counts
  double whole_taken = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    const std::size_t g = At(groups_[m]);
    gradient[m] = slope(norms.of_group[g], norms.whole, outer) * slope(theta[m], norms.of_group[g], inner);
    if (inner == kInfinity && std::exchange(taken[g], std::max(taken[g], gradient[m])) > 0) gradient[m] = 0;
    if (outer == kInfinity && gradient[m] > 0) {
      if (whole_taken > 0 && whole_taken != static_cast<double>(g) + 1) gradient[m] = 0;
      if (whole_taken == 0) whole_taken = static_cast<double>(g) + 1;
    }
  }
  return norms.whole;
}

void MixedNorm::MakeFeasible(std::span<double> theta) const {
  DropNegative(theta);
  if (!is_minimized()) return;
  const double norm = ThetaNorm(theta);
  if (!(norm > 1)) return;
  for (double& value : theta) value /= norm;
}

void MixedNorm::AnalyticUpdate(std::span<const double> theta, std::span<const double> q,
                               std::span<double> updated) const {
  if (!is_minimized()) return BestResponse(q, updated);
  std::vector<double> u = Roots(q);
  for (std::size_t m = 0; m < u.size(); ++m) u[m] *= theta[m];
  const Norms norms = Measure(u, Q_, P_);
  const auto weight = [](double part, double whole, double exponent) {
    return part > 0 ? std::pow(part / whole, 2 - exponent) : 0;
  };
  for (std::size_t m = 0; m < u.size(); ++m) {
    const double of_group = norms.of_group[At(groups_[m])];
    updated[m] = weight(of_group, norms.whole, P_) * weight(u[m], of_group, Q_);
  }
}

void MixedNorm::Project(std::span<double> theta, std::span<const double> scales) const {
  ProjectOntoMixedBall(WeightExponent(P_), WeightExponent(Q_), groups_, theta, scales);
  MakeFeasible(theta);
}

bool MixedNorm::Shorten(std::span<const double> q, std::span<double> theta) const {
  if (P_ == 1 || (std::isfinite(P_) && std::isfinite(Q_))) return false;
  const std::vector<double> roots = Roots(q);
  const double outer = ConjugateExponent(P_);
  const Norms dual = Measure(roots, ConjugateExponent(Q_), outer);
  std::vector<double> u = roots;
  for (std::size_t m = 0; m < u.size(); ++m) u[m] *= theta[m];
  const Norms primal = Measure(u, Q_, P_);
  bool is_changed = false;
  for (std::size_t m = 0; m < u.size(); ++m) {
    const std::size_t g = At(groups_[m]);
    const double wanted = dual.of_group[g] * WeightOfPart(dual.of_group[g], dual.whole, outer);
    const double length = std::isinf(Q_) ? u[m] : primal.of_group[g];
    if (!(length > wanted)) continue;
    theta[m] *= wanted / length;
    is_changed = true;
  }
  return is_changed;
}

// ||x||_r lies between ||x||_inf and count^(1/r) ||x||_inf; the spread adds at most its root times the mean
// part to each.
RegularizerPointer MixedNorm::Smoothed(double relative_error) const {
  const auto smooth = [&](double exponent) {
    if (exponent > 1) return exponent;
    const double count = std::max<double>(2, static_cast<double>(groups_.size()));
    return ConjugateExponent(std::log(count) / relative_error + 2);
  };
  const double share =
      relative_error * relative_error / std::max<double>(1, static_cast<double>(groups_.size()));
  const double spread = std::isinf(P_) || std::isinf(Q_) ? share : 0;
  return std::make_shared<const MixedNorm>(groups_, smooth(P_), smooth(Q_), spread);
}

std::vector<double> MixedNorm::GroupWeights(std::span<const double> theta) const {
  std::vector<double> weights(group_count_, 0.0);
  for (std::size_t g = 0; g < group_count_; ++g) {
    std::vector<double> part;
    for (std::size_t m = 0; m < theta.size(); ++m) {
      if (At(groups_[m]) == g && theta[m] > 0) part.push_back(Q_ > 2 ? 1 / theta[m] : theta[m]);
    }
    if (part.empty()) continue;
    if (Q_ <= 2) {
      weights[g] = PositiveNorm(part, WeightExponent(Q_));
    } else {
      weights[g] = 1 / PositiveNorm(part, Q_ == kInfinity ? 1 : Q_ / (Q_ - 2));
    }
  }
  return weights;
}

RegularizerPointer BlockNorm(double P, std::size_t kernels) {
  RequireExponent("block-norm", P);
  if (P <= 2) return LpConstraint(WeightExponent(P));
  return std::make_shared<const MixedNorm>(std::vector<int>(kernels, 0), P, P);
}

}  // namespace kweave
