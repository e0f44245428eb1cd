#include "weights/beta_mixture.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

constexpr double kPrecision = 1e-2;  // of the gap
constexpr double kLeastPrecision = 1e-5;
constexpr double kMostPrecision = 1e-11;
constexpr double kSmoothing = 0.1;  // of the gap, that a smoothed dual term may be off
constexpr double kNearlyOne = 1.15;
constexpr double kLeastSmoothed = 1e-3;

}  // namespace

bool BetaMixture::Helps(const Regularizer& regularizer) {
  if (const LpNorm* norm = regularizer.lp_norm()) return norm->p() < kNearlyOne;
  return regularizer.is_minimized() && !regularizer.is_dual_smooth() &&
         (regularizer.linear() || regularizer.Smoothed(kLeastSmoothed) != nullptr);
}

void BetaMixture::Add(const Evaluation& last, const Machine& machine, const RunState& state) {
  if (gram_ != &machine.gram() && gram_ != nullptr) bundle_.Measure(machine.gram());
  gram_ = &machine.gram();
  bundle_.Add(last, machine.expansion());
  BundlePoint point = Best(last, state.relative_gap);
  if (point.mixture.empty()) {
    best_ = {last.beta, last.dual};
    return;
  }
  for (double& value : point.quadratics) value *= bundle_.unit();
  best_ = {bundle_.Mix(point.mixture), LowerBound(regularizer_, bundle_.unit() * point.linear,
                                                  point.quadratics, ZeroIsFeasible(machine))};
}

BundlePoint BetaMixture::Best(const Evaluation& last, double relative_gap) {
  const double precision = std::clamp(kPrecision * relative_gap, kMostPrecision, kLeastPrecision);
  if (const std::optional<LinearWeights> linear = regularizer_.linear()) {
    const double sum = std::accumulate(last.theta.begin(), last.theta.end(), 0.0);
    if (linear->cost > 0 && sum > 0) bundle_.Limit({.cost = linear->cost, .total = kMostGrowth * sum});
    if (linear->is_bounded()) bundle_.Limit(*linear);
    const std::vector<double> nowhere(last.theta.size(), 0.0);
    return bundle_.Minimize({.rho = 0, .center = nowhere, .metric = nowhere}, precision);
  }
  return bundle_.Minimize(regularizer_, precision, kSmoothing * relative_gap);
}

}  // namespace kweave
