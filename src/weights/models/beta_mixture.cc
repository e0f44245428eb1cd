#include "weights/models/beta_mixture.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "regularizer/lp_norm.h"
#include "weights/models/mixture.h"

namespace kweave {

namespace {

// Of the gap: theta does not follow the mixture, so that only the bound errs by these; and that a smoothed
// dual term may be off.
constexpr double kPrecision = 1e-2, kSmoothing = 0.1;
// Norms up to here have conjugates above 7.7, nearly the maximum: single betas close their gaps slowly.
constexpr double kNearlyOne = 1.15;
constexpr double kAnySmoothing = 1e-3;  // to ask whether there is one

}  // namespace

bool BetaMixture::Helps(const Regularizer& regularizer) {
  if (const LpNorm* norm = regularizer.lp_norm()) return norm->p() < kNearlyOne;
  return regularizer.is_minimized() && !regularizer.is_dual_smooth() &&
         (regularizer.linear() || regularizer.Smoothed(kAnySmoothing) != nullptr);
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
  const double precision = ModelPrecision(kPrecision, relative_gap);
  if (const std::optional<LinearWeights>& linear = regularizer_.linear()) {
    const double sum = std::accumulate(last.theta.begin(), last.theta.end(), 0.0);
    if (linear->cost > 0 && sum > 0) bundle_.Limit({.cost = linear->cost, .total = kMostGrowth * sum});
    if (linear->is_bounded()) bundle_.Limit(*linear);
    const std::vector<double> nowhere(last.theta.size(), 0.0);
    return bundle_.Minimize({.rho = 0, .center = nowhere, .metric = nowhere}, precision);
  }
  return bundle_.Minimize(regularizer_, precision, kSmoothing * relative_gap);
}

}  // namespace kweave
