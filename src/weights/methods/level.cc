#include "weights/methods/level.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/dot.h"
#include "weights/models/fewer_kernels.h"
#include "weights/models/mixture.h"

namespace kweave {

namespace {

// Of the gap: the model's minimum is the lower bound, and what it errs by is missing there.
constexpr double kModelPrecision = 1e-3;
// Of the gap, that a smoothed dual term may be off: the next, smaller gap smooths less.
constexpr double kSmoothing = 0.3;
// Of the gap, and of the gap to reach, that thinning may cost: little beside what a move gains.
constexpr double kThin = 0.02, kThinAtEnd = 0.05;
// Factors on the gap, from one move to the next, above which the level rises and below which it falls.
// Lemarechal et al. keep the level at a fixed share of about 0.3, which costs solves where the minimum of the
// model itself serves.
constexpr double kPoorGain = 0.6, kGoodGain = 0.3;
// The level, as a share of the gap above the lower bound: the first above zero, the most, and the least,
// below which it is zero again.
constexpr double kFirstShare = 0.3, kMostShare = 0.6, kLeastShare = 0.1;
constexpr double kShareGrowth = 1.5, kShareFall = 0.5;  // of the share at each change
// A level is met within this factor; a bracket by factors of ten and its geometric mean gets there in a few
// of these trials.
constexpr double kLevelSlack = 1.25;
constexpr int kMostPulls = 12;
// In units of the objective and of weights of sum one: a weaker pull moves nothing, a stronger one holds
// everything.
constexpr double kLeastPull = 1e-12, kMostPull = 1e6;

// Early on a few betas cannot tell kernels apart that differ, and weights moved between these would be a step
// back: thinning waits for gaps within this factor of the one to reach. Very many kernels are alike, and cost
// more than that.
constexpr double kNearlyThere = 10;
constexpr std::ptrdiff_t kFewKernels = 16, kManyKernels = 1000;

std::ptrdiff_t CountActive(std::span<const double> theta) {
  return std::count_if(theta.begin(), theta.end(), [](double v) { return v > 0; });
}

}  // namespace

Level::Level(const Regularizer& regularizer) : regularizer_(regularizer), linear_(regularizer.linear()) {
  if (linear_ && linear_->is_bounded()) bundle_.Limit(*linear_);
}

void Level::Begin(std::span<double> theta) { regularizer_.Start(theta); }

void Level::Move(const Evaluation& last, const Machine& machine, const RunState& state,
                 std::span<double> theta) {
  may_scale_ = ZeroIsFeasible(machine);
  NoteKernels(machine);
  NoteSolve(last);
  bundle_.Add(last, machine.expansion());
  linear_ ? MoveOnSimplex(state, theta) : MoveByMixture(state, theta);
}

void Level::MoveOnSimplex(const RunState& state, std::span<double> theta) {
  if (linear_->cost > 0 && Sum(best_theta_) > 0)
    bundle_.Limit({.cost = linear_->cost, .total = kMostGrowth * Sum(best_theta_)});
  const double precision = ModelPrecision(kModelPrecision, state.relative_gap);
  const BundlePoint lowest = Lowest(precision);
  const double gap = NoteBound(lowest);
  const double wanted = state.target_gap * std::abs(best_) / bundle_.unit();
  const double slack = std::max(kThin * gap, kThinAtEnd * wanted);
  const bool is_nearly_there = state.relative_gap <= kNearlyThere * state.target_gap;
  if (share_ > 0 && !linear_->is_bounded() && CountActive(best_theta_) > kManyKernels)
    ThinWeights(bundle_.products(), slack, best_theta_);
  const BundlePoint next = ToLevel(lowest, precision);
  std::copy(next.theta.begin(), next.theta.end(), theta.begin());
  if (linear_->is_bounded()) {
    TrimWeights(bundle_.planes(), *linear_, slack, theta);
    regularizer_.MakeFeasible(theta);
    return;
  }
  if (CountActive(theta) > (is_nearly_there ? kFewKernels : kManyKernels))
    ThinWeights(bundle_.products(), slack, theta);
  MergeWeights(bundle_.planes(), slack, theta);
  if (regularizer_.lp_norm() != nullptr) regularizer_.lp_norm()->Normalize(theta);
}

// The model is at the level where it is reached on the way from the best theta to the model's minimum, or
// below it.
void Level::MoveByMixture(const RunState& state, std::span<double> theta) {
  const double precision = ModelPrecision(kModelPrecision, state.relative_gap);
  const BundlePoint lowest = bundle_.Minimize(regularizer_, precision, kSmoothing * state.relative_gap);
  NoteBound(lowest);
  for (std::size_t m = 0; m < theta.size(); ++m) {
    if (regularizer_.is_minimized()) {
      theta[m] = share_ * best_theta_[m] + (1 - share_) * lowest.theta[m];
    } else {
      theta[m] = std::pow(best_theta_[m], share_) * std::pow(lowest.theta[m], 1 - share_);
    }
  }
  const LpNorm* norm = regularizer_.lp_norm();
  norm != nullptr ? norm->Normalize(theta) : regularizer_.MakeFeasible(theta);
}

// Returns the gap to it, in units of the bundle, and lets the level follow.
double Level::NoteBound(const BundlePoint& lowest) {
  std::vector<double> quadratics = lowest.quadratics;
  for (double& value : quadratics) value *= bundle_.unit();
  dual_point_ = {bundle_.Mix(lowest.mixture),
                 LowerBound(regularizer_, bundle_.unit() * lowest.linear, quadratics, may_scale_)};
  const double gap = (best_ - dual_point_.bound) / bundle_.unit();
  ChooseLevel(gap);
  return gap;
}

// Bounds found with other kernels are of no use.
void Level::NoteKernels(const Machine& machine) {
  if (gram_ != &machine.gram() && gram_ != nullptr) {
    bundle_.Measure(machine.gram());
    best_ = gap_ = std::numeric_limits<double>::infinity();
  }
  gram_ = &machine.gram();
}

void Level::NoteSolve(const Evaluation& last) {
  if (!(last.primal < best_)) return;
  best_ = last.primal;
  best_theta_ = last.theta;
  // Kernels with more weight move more, those without are not held to zero: halfway between the plain
  // distance and that of relative changes.
  const auto active = CountActive(best_theta_);
  const double sum = active > 0 ? Sum(best_theta_) : 1;
  metric_.resize(best_theta_.size());
  for (std::size_t m = 0; m < metric_.size(); ++m) {
    metric_[m] =
        1 / (sum * (best_theta_[m] + sum / static_cast<double>(std::max<std::ptrdiff_t>(active, 1))));
  }
}

void Level::ChooseLevel(double gap) {
  if (gap > kPoorGain * gap_) share_ = std::min(std::max(kShareGrowth * share_, kFirstShare), kMostShare);
  if (gap < kGoodGain * gap_) share_ = share_ > kLeastShare ? kShareFall * share_ : 0;
  gap_ = gap;
}

// Kernels that are not positive semidefinite can leave the model without a minimum. One beta's has one.
BundlePoint Level::Lowest(double precision) {
  const Pull none{.rho = 0, .center = best_theta_, .metric = metric_};
  BundlePoint point = bundle_.Minimize(none, precision);
  if (!point.theta.empty()) return point;
  bundle_.Restart();
  return bundle_.Minimize(none, precision);
}

// The model rises with the pull: bisection by factors.
BundlePoint Level::ToLevel(BundlePoint lowest, double precision) {
  const double bound = lowest.value;
  const double rise = share_ * (best_ / bundle_.unit() - bound);
  if (!(rise > precision)) return lowest;
  double low = 0;
  double high = kMostPull;
  BundlePoint point = std::move(lowest);
  for (int k = 0; k < kMostPulls; ++k) {
    BundlePoint pulled = bundle_.Minimize({.rho = rho_, .center = best_theta_, .metric = metric_}, precision);
    if (pulled.theta.empty()) break;
    point = std::move(pulled);
    const double ratio = (point.value - bound) / rise;
    if (ratio > 1 / kLevelSlack && ratio < kLevelSlack) break;
    (ratio > 1 ? high : low) = rho_;
    if (low == 0) {
      rho_ = 0.1 * high;
    } else {
      rho_ = high == kMostPull ? 10 * low : std::sqrt(low * high);
    }
    if (rho_ < kLeastPull || rho_ >= kMostPull) break;
  }
  rho_ = std::clamp(rho_, kLeastPull, 0.1 * kMostPull);
  return point;
}

}  // namespace kweave
