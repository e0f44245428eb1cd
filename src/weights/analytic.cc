#include "weights/analytic.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>

#include "weights/curvature.h"
#include "weights/lp_ball_qp.h"

namespace kweave {

namespace {

constexpr std::size_t kNewtonBytes = std::size_t{512} << 20;
constexpr std::size_t kNewtonKernels = 1024;
constexpr double kNewtonLargestNorm = 16;  // above it the update contracts by more than 2 / 17 each time
constexpr int kUpdatesBeforeNewton = 2;    // they bring the weights to their order of magnitude
constexpr double kAffordableUpdates = 3;
constexpr int kMaxCuts = 6;

// The kernels a Newton step moves: all that could matter, the heaviest first where there are too many.
std::vector<Index> NewtonKernels(const LpNorm& norm, const Evaluation& at) {
  std::vector<double> response(at.theta.size());
  norm.BestResponse(at.quadratics, response);
  std::vector<double> importance(at.theta.size());
  std::vector<Index> kernels;
  const double largest = *std::max_element(at.quadratics.begin(), at.quadratics.end());
  for (std::size_t m = 0; m < at.theta.size(); ++m) {
    importance[m] = std::max(at.theta[m], response[m]) + 1e-6 * at.quadratics[m] / largest;
    if (at.quadratics[m] > 0) kernels.push_back(static_cast<Index>(m));
  }
  if (kernels.size() > kNewtonKernels) {
    std::nth_element(kernels.begin(), kernels.begin() + kNewtonKernels, kernels.end(), [&](Index a, Index b) {
      return importance[static_cast<std::size_t>(a)] > importance[static_cast<std::size_t>(b)];
    });
    kernels.resize(kNewtonKernels);
    std::sort(kernels.begin(), kernels.end());
  }
  return kernels;
}

}  // namespace

void Analytic::Begin(std::span<double> theta) { norm_.Uniform(theta); }

void Analytic::Move(const Evaluation& last, const Machine& machine, const RunState& state,
                    std::span<double> theta) {
  if (moves_ > 0 && IsWorseThanAccepted(last) && cuts_ < kMaxCuts) {
    CutBack(last, theta);
    return;
  }
  const bool crawls = UpdateCrawls(state);
  accepted_ = last;
  previous_gap_ = state.relative_gap;
  cuts_ = 0;
  ++moves_;
  const bool take_newton = crawls && !was_newton_partial_;
  was_newton_partial_ = false;
  if (take_newton && NewtonStep(last, machine, theta)) {
    was_newton_partial_ = last.theta.size() > kNewtonKernels;
    return;
  }
  Update(last, std::min(1e-3, state.relative_gap), theta);
}

// Certainly worse: the lower bound at the new point lies above the upper bound at the old.
bool Analytic::IsWorseThanAccepted(const Evaluation& last) const {
  return last.inner_dual > accepted_.primal;
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
  norm_.Normalize(theta);
}

// The update multiplies, so a weight near zero could not come back in reasonable time: the best response sets
// a floor, which vanishes with the gap.
void Analytic::Update(const Evaluation& last, double floor, std::span<double> theta) const {
  std::vector<double> response(theta.size());
  norm_.BestResponse(last.quadratics, response);
  norm_.AnalyticUpdate(last.theta, last.quadratics, theta);
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] = std::max(theta[m], floor * response[m]);
  norm_.Normalize(theta);
}

bool Analytic::UpdateCrawls(const RunState& state) const {
  if (norm_.p() > kNewtonLargestNorm || moves_ < kUpdatesBeforeNewton) return false;
  const double rate = state.relative_gap / previous_gap_;
  if (!(rate < 1)) return true;
  return std::log(state.target_gap / state.relative_gap) < kAffordableUpdates * std::log(rate);
}

bool Analytic::NewtonStep(const Evaluation& last, const Machine& machine, std::span<double> theta) const {
  const std::vector<Index> kernels = NewtonKernels(norm_, last);
  if (kernels.size() < 2) return false;
  const std::optional<std::vector<double>> hessian = Curvature(last, machine, kernels, kNewtonBytes);
  if (!hessian) return false;

  // The kernels left out keep their weight, and the others share what remains of the ball.
  const std::size_t size = kernels.size();
  std::copy(last.theta.begin(), last.theta.end(), theta.begin());
  std::vector<double> start(size);
  for (std::size_t k = 0; k < size; ++k) {
    start[k] = theta[static_cast<std::size_t>(kernels[k])];
    theta[static_cast<std::size_t>(kernels[k])] = 0;
  }
  const double rest = std::pow(norm_.Value(theta), norm_.p());
  const double radius = std::pow(std::max(1 - rest, 1e-6), 1 / norm_.p());
  std::vector<double> scaled(size * size), linear(size);
  for (std::size_t k = 0; k < size; ++k) {
    linear[k] = -0.5 * last.quadratics[static_cast<std::size_t>(kernels[k])] * radius;
    for (std::size_t l = 0; l < size; ++l) {
      linear[k] -= (*hessian)[k * size + l] * start[l] * radius;
      scaled[k * size + l] = (*hessian)[k * size + l] * radius * radius;
    }
  }
  if (std::all_of(start.begin(), start.end(), [](double value) { return value == 0; })) return false;
  const std::vector<double> solution = MinimizeOverLpBall(linear, scaled, norm_.p(), start);
  if (solution.empty()) return false;
  const double negligible = norm_.p() == 1 ? 1e-9 : 0;  // interior points never reach zero
  for (std::size_t k = 0; k < size; ++k) {
    if (solution[k] > negligible) theta[static_cast<std::size_t>(kernels[k])] = radius * solution[k];
  }
  norm_.Normalize(theta);
  return true;
}

}  // namespace kweave
