#include "weights/analytic_newton.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "weights/analytic.h"
#include "weights/newton_step.h"

namespace kweave {

namespace {

constexpr std::size_t kMostDirections = 96;
constexpr double kNewtonLargestNorm = 8;  // above it the update shrinks the error to 2 / 9 each time
constexpr int kUpdatesBeforeNewton = 2;   // they bring the weights to their order of magnitude
constexpr double kAffordableUpdates = 1.5;
constexpr double kGoodNewtonStep = 0.1;  // factor on the gap; after worse ones more samples keep their bounds
constexpr double kModelPrecision = 0.03;  // of the gap, for norms whose bound follows the objective closely

}  // namespace

void AnalyticNewton::Move(const Evaluation& last, const Machine& machine, const RunState& state,
                          std::span<double> theta) {
  dual_point_.beta.clear();
  const double rate = state.relative_gap / previous_gap_;
  if (last_step_ == Step::kUpdate) update_rate_ = rate;
  if (last_step_ == Step::kNewton && (cut_back_.IsWorse(last) || rate > kGoodNewtonStep)) {
    most_bounded_ = std::min(2 * most_bounded_, kMostBoundedSamples);
  }
  const bool crawls = UpdateCrawls(state);
  if (cut_back_.Cuts(last, theta)) {
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
  AnalyticStep(regularizer_, last, std::min(1e-3, state.relative_gap), theta);
  last_step_ = Step::kUpdate;
}

double AnalyticNewton::hoped_rate() const { return last_step_ == Step::kNewton ? kGoodNewtonStep : 1; }

bool AnalyticNewton::UpdateCrawls(const RunState& state) const {
  if (norm_ == nullptr || norm_->p() > kNewtonLargestNorm) return false;
  if (!state.has_start && cut_back_.moves() < kUpdatesBeforeNewton) return false;
  if (!(update_rate_ < 1)) return true;
  return std::log(state.target_gap / state.relative_gap) < kAffordableUpdates * std::log(update_rate_);
}

}  // namespace kweave
