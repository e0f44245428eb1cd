#include "weights/methods/analytic_newton.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "weights/methods/newton_step.h"

namespace kweave {

namespace {

// Directions and samples that keep their bounds in a local model: its cost is cubic in both, and solves
// are warm and cheap. After a Newton step that was not good the samples are doubled.
constexpr std::size_t kMostDirections = 96, kFirstBoundedSamples = 48;
constexpr double kNewtonLargestNorm = 8;  // above it the update shrinks the error to 2 / 9 each time
constexpr int kUpdatesBeforeNewton = 2;   // they bring the weights to their order of magnitude
constexpr double kAffordableUpdates =
    1.5;  // solves that updates may still need before Newton steps are taken instead
constexpr double kGoodNewtonStep = 0.1;   // factor on the gap
constexpr double kModelPrecision = 0.03;  // of the gap, for norms whose bound follows the objective closely
// Share of the best response that a weight keeps, or the gap where that is less: it costs no more than that,
// and can grow back.
constexpr double kLeastShareOfResponse = 1e-3;

// The closed form. It multiplies, so a weight near zero could not come back in reasonable time: `floor` times
// the best response is the least that a weight becomes.
void AnalyticStep(const Regularizer& regularizer, const Evaluation& last, double floor,
                  std::span<double> theta) {
  std::vector<double> response(theta.size());
  regularizer.BestResponse(last.quadratics, response);
  regularizer.AnalyticUpdate(last.theta, last.quadratics, theta);
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] = std::max(theta[m], floor * response[m]);
  FillFeasible(regularizer, theta);
}

}  // namespace

AnalyticNewton::AnalyticNewton(const Regularizer& regularizer)
    : regularizer_(regularizer),
      norm_(regularizer.lp_norm()),
      backtracking_(regularizer),
      most_bounded_(kFirstBoundedSamples) {}

void AnalyticNewton::Move(const Evaluation& last, const Machine& machine, const RunState& state,
                          std::span<double> theta) {
  dual_point_.beta.clear();
  const double rate = state.relative_gap / previous_gap_;
  if (last_step_ == Step::kUpdate) update_rate_ = rate;
  if (last_step_ == Step::kNewton && (backtracking_.IsWorse(last) || rate > kGoodNewtonStep)) {
    most_bounded_ = std::min(2 * most_bounded_, kMostBoundedSamples);
  }
  const bool crawls = UpdateCrawls(state);
  if (backtracking_.Cuts(last, theta)) {
    last_step_ = Step::kCut;
    return;
  }
  previous_gap_ = state.relative_gap;
  const bool take_newton = crawls && !was_newton_partial_;
  was_newton_partial_ = false;
  if (take_newton) {
    NewtonStepOptions options{kMostDirections, most_bounded_};
    if (!needs_precision()) {
      options.precision = kModelPrecision;
      options.measures_partial = false;
    }
    if (std::optional<DualPoint> point = TakeNewtonStep(*norm_, last, machine, state, options, theta)) {
      dual_point_ = std::move(*point);
      last_step_ = Step::kNewton;
      was_newton_partial_ = last.theta.size() > kMostDirections;
      return;
    }
  }
  AnalyticStep(regularizer_, last, std::min(kLeastShareOfResponse, state.relative_gap), theta);
  last_step_ = Step::kUpdate;
}

double AnalyticNewton::hoped_rate() const { return last_step_ == Step::kNewton ? kGoodNewtonStep : 1; }

bool AnalyticNewton::UpdateCrawls(const RunState& state) const {
  if (norm_ == nullptr || norm_->p() > kNewtonLargestNorm) return false;
  if (!state.has_start && backtracking_.moves() < kUpdatesBeforeNewton) return false;
  if (!(update_rate_ < 1)) return true;
  return std::log(state.target_gap / state.relative_gap) < kAffordableUpdates * std::log(update_rate_);
}

}  // namespace kweave
