#include "weights/analytic.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace kweave {

namespace {

constexpr std::size_t kNewtonDirections = 96;
constexpr double kNewtonLargestNorm = 8;  // above it the update shrinks the error to 2 / 9 each time
constexpr int kUpdatesBeforeNewton = 2;   // they bring the weights to their order of magnitude
constexpr double kAffordableUpdates = 1.5;
constexpr double kGoodNewtonStep = 0.1;  // factor on the gap; after worse ones more samples keep their bounds
constexpr int kMaxCuts = 6;
constexpr double kModelPrecision = 0.03;  // of the gap

double At(std::span<const double> values, Index m) { return values[static_cast<std::size_t>(m)]; }

// What a Newton step moves: every kernel by itself, or, where there are too many, the heaviest half by
// themselves and the others in groups. At the optimum q_m / theta_m^(p-1) is the same for all kernels with
// weight, so kernels where it is alike want to move alike; the update then sorts out the weights inside a
// group. Directions have norm one and do not overlap, so the constraint is ||.||_p <= 1 along them too.
std::vector<Direction> NewtonDirections(const LpNorm& norm, const Evaluation& at) {
  std::vector<double> importance(at.theta.size());
  norm.BestResponse(at.quadratics, importance);
  const double largest = *std::max_element(at.quadratics.begin(), at.quadratics.end());
  std::vector<Index> order;
  for (std::size_t m = 0; m < at.theta.size(); ++m) {
    importance[m] = std::max(at.theta[m], importance[m]) + 1e-6 * at.quadratics[m] / largest;
    if (at.quadratics[m] > 0) order.push_back(static_cast<Index>(m));
  }
  const std::size_t singles = order.size() <= kNewtonDirections ? order.size() : kNewtonDirections / 2;
  const auto rest = order.begin() + static_cast<std::ptrdiff_t>(singles);
  std::nth_element(order.begin(), rest, order.end(),
                   [&](Index a, Index b) { return At(importance, a) > At(importance, b); });
  std::vector<Direction> directions;
  for (auto m = order.begin(); m != rest; ++m) directions.push_back({{*m}, {1.0}});

  order.erase(order.begin(), rest);
  std::erase_if(order, [&](Index m) { return At(at.theta, m) == 0; });
  const auto urge = [&](Index m) {
    return std::log(At(at.quadratics, m)) - (norm.p() - 1) * std::log(At(at.theta, m));
  };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return urge(a) < urge(b); });
  const std::size_t group_size = order.size() / (kNewtonDirections / 2) + 1;
  for (std::size_t begin = 0; begin < order.size(); begin += group_size) {
    Direction& direction = directions.emplace_back();
    for (std::size_t k = begin; k < std::min(begin + group_size, order.size()); ++k) {
      direction.kernels.push_back(order[k]);
      direction.weights.push_back(At(at.theta, order[k]));
    }
    norm.Normalize(direction.weights);
  }
  return directions;
}

}  // namespace

void Analytic::Begin(std::span<double> theta) { regularizer_.Start(theta); }

void Analytic::Move(const Evaluation& last, const Machine& machine, const RunState& state,
                    std::span<double> theta) {
  dual_point_.beta.clear();
  const bool is_worse = moves_ > 0 && IsWorseThanAccepted(last);
  const double rate = state.relative_gap / previous_gap_;
  if (last_step_ == Step::kUpdate) update_rate_ = rate;
  if (last_step_ == Step::kNewton && (is_worse || rate > kGoodNewtonStep)) {
    most_bounded_ = std::min(2 * most_bounded_, kMostBoundedSamples);
  }
  if (is_worse && cuts_ < kMaxCuts) {
    CutBack(last, theta);
    last_step_ = Step::kCut;
    return;
  }
  const bool crawls = UpdateCrawls(state);
  accepted_ = last;
  previous_gap_ = state.relative_gap;
  cuts_ = 0;
  ++moves_;
  const bool take_newton = crawls && !was_newton_partial_;
  was_newton_partial_ = false;
  if (take_newton && NewtonStep(last, machine, state, theta)) {
    last_step_ = Step::kNewton;
    was_newton_partial_ = last.theta.size() > kNewtonDirections;
    return;
  }
  Update(last, std::min(1e-3, state.relative_gap), theta);
  last_step_ = Step::kUpdate;
}

// Certainly worse: the lower bound at the new point lies above the upper bound at the old. Where weights are not
// minimised over, J is to rise.
bool Analytic::IsWorseThanAccepted(const Evaluation& last) const {
  return regularizer_.is_minimized() && last.inner_dual > accepted_.primal;
}

// J is convex along the line, with slope -q'd / 2 at both ends: the secant estimates where the slope is zero.
void Analytic::CutBack(const Evaluation& last, std::span<double> theta) {
  ++cuts_;
  double slope_before = 0;
  double slope_after = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    const double d = last.theta[m] - accepted_.theta[m];
    slope_before -= 0.5 * accepted_.quadratics[m] * d;
    slope_after -= 0.5 * last.quadratics[m] * d;
  }
  const double zero = slope_before < 0 && slope_after > 0 ? slope_before / (slope_before - slope_after) : 0.3;
  const double step = std::clamp(zero, 0.1, 0.7);
  for (std::size_t m = 0; m < theta.size(); ++m) {
    theta[m] = accepted_.theta[m] + step * (last.theta[m] - accepted_.theta[m]);
  }
  Finish(theta);
}

void Analytic::Finish(std::span<double> theta) const {
  norm_ != nullptr ? norm_->Normalize(theta) : regularizer_.MakeFeasible(theta);
}

// The update multiplies, so a weight near zero could not come back in reasonable time: the best response sets
// a floor, which vanishes with the gap.
void Analytic::Update(const Evaluation& last, double floor, std::span<double> theta) const {
  std::vector<double> response(theta.size());
  regularizer_.BestResponse(last.quadratics, response);
  regularizer_.AnalyticUpdate(last.theta, last.quadratics, theta);
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] = std::max(theta[m], floor * response[m]);
  Finish(theta);
}

bool Analytic::UpdateCrawls(const RunState& state) const {
  if (norm_ == nullptr || norm_->p() > kNewtonLargestNorm) return false;
  if (!state.has_start && moves_ < kUpdatesBeforeNewton) return false;
  if (!(update_rate_ < 1)) return true;
  return std::log(state.target_gap / state.relative_gap) < kAffordableUpdates * std::log(update_rate_);
}

bool Analytic::NewtonStep(const Evaluation& last, const Machine& machine, const RunState& state,
                          std::span<double> theta) {
  if (machine.risk() == nullptr) return false;
  const std::vector<Direction> directions = NewtonDirections(*norm_, last);
  if (directions.size() < 2) return false;
  const LocalModel model(last, machine, directions, most_bounded_);
  if (!model.is_valid()) return false;
  const double precision =
      kModelPrecision * std::max(state.relative_gap, state.target_gap) * std::abs(last.primal);
  const SaddlePoint point = SolveSaddle(model.problem(), norm_->p(), precision);
  if (point.t.empty()) return false;

  std::fill(theta.begin(), theta.end(), 0.0);
  for (std::size_t k = 0; k < directions.size(); ++k) {
    for (std::size_t j = 0; j < directions[k].kernels.size(); ++j) {
      theta[static_cast<std::size_t>(directions[k].kernels[j])] = point.t[k] * directions[k].weights[j];
    }
  }
  norm_->Normalize(theta);
  NoteDualPoint(model.Beta(point), machine);
  return true;
}

// The model's own beta is feasible, and where the best beta for its theta is not the only one it is the
// better choice among them.
void Analytic::NoteDualPoint(std::vector<double> beta, const Machine& machine) {
  std::vector<double> quadratics(static_cast<std::size_t>(machine.gram().kernels()));
  machine.gram().Expand(beta)->Quadratics(quadratics);
  const double linear = machine.Linear(beta);
  dual_point_ = {std::move(beta), linear - norm_->DualTerm(quadratics)};
}

}  // namespace kweave
