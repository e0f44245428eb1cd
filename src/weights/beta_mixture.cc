#include "weights/beta_mixture.h"

#include <algorithm>
#include <vector>

#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

constexpr double kPrecision = 1e-2;  // of the gap
constexpr double kLeastPrecision = 1e-5;
constexpr double kMostPrecision = 1e-11;
constexpr double kNearlyOne = 1.15;

bool IsSimplex(const Regularizer& regularizer) {
  return regularizer.lp_norm() != nullptr && regularizer.lp_norm()->p() == 1;
}

}  // namespace

bool BetaMixture::Helps(const Regularizer& regularizer) {
  const LpNorm* norm = regularizer.lp_norm();
  return norm != nullptr && norm->p() < kNearlyOne;
}

void BetaMixture::Add(const Evaluation& last, const Machine& machine, const RunState& state) {
  if (gram_ != &machine.gram() && gram_ != nullptr) bundle_.Measure(machine.gram());
  gram_ = &machine.gram();
  bundle_.Add(last, machine.expansion());
  const double precision = std::clamp(kPrecision * state.relative_gap, kMostPrecision, kLeastPrecision);
  BundlePoint point;
  if (IsSimplex(regularizer_)) {
    const std::vector<double> nowhere(last.theta.size(), 0.0);
    point = bundle_.Minimize({.rho = 0, .center = nowhere, .metric = nowhere}, precision);
  } else {
    point = bundle_.Minimize(regularizer_, precision);
  }
  if (point.mixture.empty()) {
    best_ = {last.beta, last.dual};
    return;
  }
  for (double& value : point.quadratics) value *= bundle_.unit();
  best_ = {bundle_.Mix(point.mixture),
           bundle_.unit() * point.linear - regularizer_.DualTerm(point.quadratics)};
}

}  // namespace kweave
