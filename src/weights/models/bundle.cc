#include "weights/models/bundle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/dot.h"
#include "base/offset.h"
#include "weights/models/largest_mixture.h"
#include "weights/models/mixture.h"

namespace kweave {

namespace {

// Beyond many members those idle for so many minima are dropped, and more members than kernels: they are
// nearly the same then. The minima take time cubic in the members.
constexpr std::size_t kManyMembers = 60, kMostMembers = 120, kLeastMembers = 4;
constexpr int kLongIdle = 3;
// Columns that join per round, and rounds: few of them are missing, and a model with all of them would cost
// the square.
constexpr std::size_t kColumnsAtOnce = 32;
constexpr int kMostRounds = 50;
// A pull needs no bound, and would spread weight over all kernels that are alike.
constexpr std::size_t kPulledColumns = 400;
// Of a mixture, and of a column that may be left out next time: what interior points leave of zero.
constexpr double kInUse = 1e-6, kNoWeight = 1e-7;
constexpr double kNeverMet = 2;  // upper bound on a share of one

void Scale(double factor, std::span<double> values) {
  for (double& value : values) value *= factor;
}

}  // namespace

void Bundle::Add(const Evaluation& at, const Expansion& expansion) {
  if (members_.empty()) {
    unit_ = std::max({std::abs(at.primal), std::abs(at.linear), std::numeric_limits<double>::min()});
  }
  members_.push_back({at.linear / unit_, at.beta, {}});
  Member& last = members_.back();
  for (std::size_t s = 0; s + 1 < members_.size(); ++s) {
    last.products.emplace_back(at.quadratics.size());
    expansion.Products(members_[s].beta, last.products.back());
  }
  last.products.push_back(at.quadratics);
  for (std::vector<double>& products : last.products) Scale(1 / unit_, products);
  while (members_.size() > std::min(MostMembers(), kManyMembers)) {
    const auto idlest = std::max_element(members_.begin(), members_.end() - 1,
                                         [](const Member& a, const Member& b) { return a.idle < b.idle; });
    if (members_.size() <= MostMembers() && idlest->idle < kLongIdle) break;
    Drop(static_cast<std::size_t>(idlest - members_.begin()));
  }
}

std::size_t Bundle::MostMembers() const {
  const Member& last = members_.back();
  const double values = static_cast<double>(kMostModelBytes) / sizeof(double);
  const double by_products = std::sqrt(2 * values / static_cast<double>(last.products.back().size()));
  const double by_betas = values / static_cast<double>(last.beta.size());
  const std::size_t by_kernels = std::clamp(last.products.back().size(), kManyMembers, kMostMembers);
  const double most = std::min({by_products, by_betas, static_cast<double>(by_kernels)});
  return std::max(static_cast<std::size_t>(most), kLeastMembers);
}

void Bundle::Drop(std::size_t t) {
  last_mixture_.clear();
  const auto offset = static_cast<std::ptrdiff_t>(t);
  for (std::size_t s = t + 1; s < members_.size(); ++s) {
    members_[s].products.erase(members_[s].products.begin() + offset);
  }
  members_.erase(members_.begin() + offset);
}

void Bundle::Restart() {
  while (members_.size() > 1) Drop(0);
}

void Bundle::Measure(Gram& gram) {
  for (std::size_t t = members_.size(); t-- > 0;) {
    if (members_[t].idle > 0) Drop(t);
  }
  for (Member& member : members_) {
    const auto expansion = gram.Expand(member.beta);
    for (std::size_t s = 0; s < member.products.size(); ++s) {
      expansion->Products(members_[s].beta, member.products[s]);
      Scale(1 / unit_, member.products[s]);
    }
  }
}

// Columns in use last time, those at the centre, and the best ones of every beta; none whose weight is given
// by its bounds.
void Bundle::StartColumns(const Pull& pull) {
  std::vector<bool> is_in(pull.center.size(), false);
  for (const Index m : columns_) is_in[Offset(m)] = true;
  std::vector<double> best(is_in.size());
  for (const Member& member : members_) {
    const std::vector<double>& q = member.products.back();
    if (!weights_.is_bounded()) {
      is_in[static_cast<std::size_t>(std::max_element(q.begin(), q.end()) - q.begin())] = true;
      continue;
    }
    FillByQuadratics(weights_, q, best);
    for (std::size_t m = 0; m < best.size(); ++m) is_in[m] = is_in[m] || best[m] > lower(m);
  }
  columns_.clear();
  const bool has_spare = spare() > 0;
  for (std::size_t m = 0; m < is_in.size(); ++m) {
    const bool is_free = !weights_.is_bounded() || (has_spare && weights_.upper[m] > lower(m));
    if (is_free && (is_in[m] || pull.center[m] > lower(m))) columns_.push_back(static_cast<Index>(m));
  }
}

BundlePoint Bundle::Minimize(const Pull& pull, double precision) {
  if (members_.size() == 1 && pull.rho == 0) return OneBeta();
  StartColumns(pull);
  BundlePoint point;
  for (int round = 0; round < kMostRounds; ++round) {
    point = SolveColumns(pull, precision);
    if (point.theta.empty()) return point;
    const std::vector<Index> missing = MissingColumns(point, pull, precision);
    if (missing.empty() || (pull.rho > 0 && columns_.size() > kPulledColumns)) break;
    columns_.insert(columns_.end(), missing.begin(), missing.end());
  }
  const double none = kNoWeight * spare();
  std::erase_if(columns_, [&](Index m) { return point.theta[Offset(m)] - lower(Offset(m)) < none; });
  return point;
}

// A plane is lowest where q is largest, whatever its sign, unless weights are bounded.
BundlePoint Bundle::OneBeta() const {
  const Member& only = members_.front();
  const std::vector<double>& q = only.products.back();
  if (weights_.is_bounded()) {
    BundlePoint point{std::vector<double>(q.size()), {1.0}, q, only.linear};
    FillByQuadratics(weights_, q, point.theta);
    point.value = only.linear - 0.5 * Dot(point.theta, q);
    return point;
  }
  const auto largest = static_cast<std::size_t>(std::max_element(q.begin(), q.end()) - q.begin());
  const double slope = cost() - 0.5 * q[largest];
  const double weight = cost() > 0 && slope > 0 ? 0 : weights_.total;
  BundlePoint point{std::vector<double>(q.size(), 0.0), {1.0}, q, only.linear, only.linear + weight * slope};
  point.theta[largest] = weight;
  return point;
}

// What the lower bounds leave of the total.
double Bundle::spare() const {
  const double kept = std::accumulate(weights_.lower.begin(), weights_.lower.end(), 0.0);
  return std::max(weights_.total - kept, 0.0);
}

// The total less what the kernels get, which no pull moves.
void Bundle::AddUnspent(HullProblem& problem, const std::vector<double>& base) const {
  for (const double value : base) problem.B.push_back(value + 2 * cost() * spare());
  problem.c.push_back(std::max(1 - std::accumulate(problem.c.begin(), problem.c.end(), 0.0), 0.0));
  problem.d.push_back(0);
  if (weights_.is_bounded()) problem.upper.push_back(kNeverMet);
}

// The hull's theta is a share of what is spare. What the lower bounds give is there for any theta: it is part
// of every column.
HullProblem Bundle::ColumnProblem(const Pull& pull) const {
  const std::size_t T = members_.size();
  const double total = spare();
  HullProblem problem;
  problem.rho = pull.rho;
  for (const Member& member : members_) problem.l.push_back(member.linear);
  std::vector<double> base(T * T, 0.0);
  const auto fill = [&](double* matrix, const auto& value) {
    for (std::size_t t = 0; t < T; ++t) {
      for (std::size_t s = 0; s <= t; ++s) {
        matrix[t * T + s] = matrix[s * T + t] = base[t * T + s] + value(members_[t].products[s]);
      }
    }
  };
  if (weights_.is_bounded()) {
    fill(base.data(), [&](const std::vector<double>& products) { return Dot(weights_.lower, products); });
  }
  problem.B.resize(columns_.size() * T * T);
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const std::size_t m = Offset(columns_[k]);
    fill(problem.B.data() + k * T * T,
         [&](const std::vector<double>& products) { return total * products[m]; });
    problem.c.push_back((pull.center[m] - lower(m)) / total);
    problem.d.push_back(pull.metric[m] * total * total);
    if (weights_.is_bounded())
      problem.upper.push_back(std::min((weights_.upper[m] - lower(m)) / total, kNeverMet));
  }
  if (weights_.cost > 0 || weights_.is_bounded()) AddUnspent(problem, base);
  return problem;
}

BundlePoint Bundle::SolveColumns(const Pull& pull, double precision) const {
  const std::size_t T = members_.size();
  HullPoint hull = SolveHull(ColumnProblem(pull), precision);
  BundlePoint point;
  if (hull.theta.empty()) return point;

  point.theta = weights_.is_bounded() ? weights_.lower : std::vector<double>(pull.center.size(), 0.0);
  const double total = spare();
  for (std::size_t k = 0; k < columns_.size(); ++k) point.theta[Offset(columns_[k])] += total * hull.theta[k];
  point.quadratics.assign(pull.center.size(), 0.0);
  for (std::size_t t = 0; t < T; ++t) {
    point.linear += hull.w[t] * members_[t].linear;
    for (std::size_t s = 0; s <= t; ++s) {
      const double factor = hull.w[t] * hull.w[s] * (s == t ? 1 : 2);
      const std::vector<double>& products = members_[t].products[s];
      for (std::size_t m = 0; m < products.size(); ++m) point.quadratics[m] += factor * products[m];
    }
  }
  point.mixture = std::move(hull.w);
  // The hull's columns have the lower bounds in them.
  if (total > 0 && weights_.is_bounded()) {
    point.slope = (hull.slope + 0.5 * Dot(weights_.lower, point.quadratics)) / total;
  }
  point.value = point.linear - 0.5 * Dot(point.theta, point.quadratics) +
                cost() * std::accumulate(point.theta.begin(), point.theta.end(), 0.0);
  return point;
}

// What the slope of a column left out is compared with. Without bounds the mean over all weight, of which
// what is not spent has none.
double Bundle::SlopeToBeat(const BundlePoint& point, const Pull& pull) const {
  if (weights_.is_bounded()) return point.slope;
  double slope = 0;
  for (const Index k : columns_) {
    const std::size_t m = Offset(k);
    const double pulled = pull.rho * pull.metric[m] * (point.theta[m] - pull.center[m]);
    slope += point.theta[m] * (pulled + cost() - 0.5 * point.quadratics[m]) / weights_.total;
  }
  return slope;
}

// A column left out belongs in when its slope, at zero or its lower bound, is below that of the columns with
// weight.
std::vector<Index> Bundle::MissingColumns(const BundlePoint& point, const Pull& pull,
                                          double precision) const {
  std::vector<bool> is_in(point.theta.size(), false);
  for (const Index k : columns_) is_in[Offset(k)] = true;
  const double total = spare();
  const double slope = SlopeToBeat(point, pull);
  std::vector<Index> missing;
  if (total == 0) return missing;
  for (std::size_t m = 0; m < is_in.size(); ++m) {
    if (weights_.is_bounded() && weights_.upper[m] == lower(m)) continue;
    if (!is_in[m] && cost() - 0.5 * point.quadratics[m] < slope - 2 * precision / total) {
      missing.push_back(static_cast<Index>(m));
    }
  }
  std::sort(missing.begin(), missing.end(),
            [&](Index a, Index b) { return point.quadratics[Offset(a)] > point.quadratics[Offset(b)]; });
  if (missing.size() > kColumnsAtOnce) missing.resize(kColumnsAtOnce);
  return missing;
}

// The members as points to be mixed: q_m(w) = w' B_m w.
class Bundle::Curved : public MixtureModel {
 public:
  explicit Curved(const Bundle& bundle) : members_(bundle.members_), unit_(bundle.unit_) {
    for (const Member& member : members_) linear_.push_back(member.linear);
  }

  double unit() const override { return unit_; }
  std::span<const double> linear() const override { return linear_; }
  std::size_t kernels() const override { return members_.front().products.front().size(); }

  void Quadratics(std::span<const double> w, std::span<double> q) const override {
    std::fill(q.begin(), q.end(), 0.0);
    ForPairs([&](std::size_t t, std::size_t s, std::span<const double> products) {
      Add((s == t ? 1 : 2) * w[t] * w[s], products, q);
    });
  }

  std::vector<double> Slopes(std::span<const double> w) const override {
    const std::size_t M = kernels();
    std::vector<double> slopes(members_.size() * M, 0.0);
    ForPairs([&](std::size_t t, std::size_t s, std::span<const double> products) {
      Add(2 * w[s], products, std::span(slopes).subspan(t * M, M));
      if (s != t) Add(2 * w[t], products, std::span(slopes).subspan(s * M, M));
    });
    return slopes;
  }

  void AddCurvature(std::span<const double> theta, std::span<const int> groups,
                    std::span<double> matrices) const override {
    const std::size_t T = members_.size();
    const auto add = [&](std::size_t first, std::size_t t, std::size_t s, double value) {
      matrices[first + t * T + s] += value;
      if (s != t) matrices[first + s * T + t] += value;
    };
    ForPairs([&](std::size_t t, std::size_t s, std::span<const double> products) {
      if (groups.empty()) return add(0, t, s, Dot(theta, products));
      for (std::size_t m = 0; m < theta.size(); ++m) {
        add(static_cast<std::size_t>(groups[m]) * T * T, t, s, theta[m] * products[m]);
      }
    });
  }

 private:
  template <class Visit>
  void ForPairs(const Visit& visit) const {
    for (std::size_t t = 0; t < members_.size(); ++t) {
      for (std::size_t s = 0; s <= t; ++s) visit(t, s, members_[t].products[s]);
    }
  }

  static void Add(double factor, std::span<const double> from, std::span<double> to) {
    if (factor == 0) return;
    for (std::size_t m = 0; m < to.size(); ++m) to[m] += factor * from[m];
  }

  const std::vector<Member>& members_;
  const double unit_;
  std::vector<double> linear_;
};

// Starts at the last mixture with some of the new beta in it, or at the new beta alone where members were
// dropped.
BundlePoint Bundle::Minimize(const Regularizer& regularizer, double precision, double smoothing) {
  constexpr double kShareOfLast = 0.5;  // any start does; the new beta mostly gets a large part
  const std::size_t T = members_.size();
  std::vector<double> start(T, 0.0);
  if (T > 1 && last_mixture_.size() + 1 == T) {
    for (std::size_t t = 0; t + 1 < T; ++t) start[t] = (1 - kShareOfLast) * last_mixture_[t];
    start[T - 1] = kShareOfLast;
  } else {
    start[T - 1] = 1;
  }
  const Curved model(*this);
  const auto solve = [&] {
    if (regularizer.is_dual_smooth()) return SolveMixture(regularizer, model, start, precision);
    if (const auto& parts = regularizer.largest_part())
      return SolveLargestMixture(*parts, model, start, precision);
    return SolveMixture(*regularizer.Smoothed(smoothing), model, start, precision);
  };
  MixturePoint best = solve();
  last_mixture_ = best.w;
  return {std::move(best.theta), std::move(best.w), std::move(best.quadratics), best.linear, best.value};
}

std::vector<double> Bundle::Mix(std::span<const double> mixture) {
  std::vector<double> beta(members_[0].beta.size(), 0.0);
  for (std::size_t t = 0; t < members_.size(); ++t) {
    Member& member = members_[t];
    member.idle = mixture[t] > kInUse ? 0 : member.idle + 1;
    for (std::size_t i = 0; i < beta.size(); ++i) beta[i] += mixture[t] * member.beta[i];
  }
  return beta;
}

std::vector<std::span<const double>> Bundle::planes() const {
  std::vector<std::span<const double>> planes;
  for (const Member& member : members_) planes.emplace_back(member.products.back());
  return planes;
}

std::vector<std::span<const double>> Bundle::products() const {
  std::vector<std::span<const double>> all;
  for (const Member& member : members_) all.insert(all.end(), member.products.begin(), member.products.end());
  return all;
}

}  // namespace kweave
