#include "weights/methods/newton.h"

#include <optional>
#include <utility>

#include "weights/methods/newton_step.h"

namespace kweave {

namespace {

// Far from 1 the bound follows the objective closely.
NewtonStepOptions OptionsFor(const LpNorm& norm) {
  constexpr double kCoarse = 1e-3;  // of the gap: the model itself errs by more
  NewtonStepOptions options;
  if (norm.p() >= 2) options.precision = kCoarse;
  return options;
}

}  // namespace

void Newton::Move(const Evaluation& last, const Machine& machine, const RunState& state,
                  std::span<double> theta) {
  dual_point_.beta.clear();
  if (IsUniformSum(norm_) || theta.size() == 1) {
    norm_.BestResponse(last.quadratics, theta);
    return;
  }
  if (backtracking_.Cuts(last, theta)) return;
  std::optional<DualPoint> point = TakeNewtonStep(norm_, last, machine, state, OptionsFor(norm_), theta);
  if (point) {
    dual_point_ = std::move(*point);
    return;
  }
  norm_.AnalyticUpdate(last.theta, last.quadratics, theta);
  ++fallbacks_;
}

}  // namespace kweave
