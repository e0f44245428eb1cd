#include "weights/spg.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kweave {

namespace {

constexpr int kPlainSteps = 10;
// Above it the methods that are there to be compared with stay as plain as the paper has them.
constexpr double kPlainGap = 1e-4;

SpectralGradient::Projection ProjectionOf(const Regularizer& regularizer) {
  return [&regularizer](std::span<double> theta, std::span<const double> scales) {
    scales.empty() ? regularizer.Project(theta) : regularizer.ProjectScaled(theta, scales);
  };
}

}  // namespace

std::optional<SpgOptions> FindSpgOptions(std::string_view method) {
  if (method == "auto" || method == "spg") return SpgOptions{{true, false, LineSearch::kAverage}, true};
  if (method == "spg-max") return SpgOptions{{true, false, LineSearch::kMaximum}, true};
  if (method == "pgd") return SpgOptions{{false, false, LineSearch::kLast}, false};
  if (method == "pgd+n") return SpgOptions{{false, false, LineSearch::kAverage}, false};
  if (method == "pgd+s") return SpgOptions{{true, false, LineSearch::kLast}, false};
  if (method == "pgd+n+s") return SpgOptions{{true, false, LineSearch::kAverage}, false};
  return std::nullopt;
}

SpgOptions ScaledFor(const Regularizer& regularizer, SpgOptions options) {
  if (!(regularizer.least_step_share() > 0)) return options;
  options.steps.is_scaled = true;
  options.steps.least_scale = regularizer.least_step_share();
  options.steps.scales_secants_only = !options.tunes_precision;
  if (regularizer.lp_norm() != nullptr) options.steps.plain_steps = kPlainSteps;
  return options;
}

Spg::Spg(const Regularizer& regularizer, const SpgOptions& options)
    : regularizer_(regularizer),
      options_(options),
      mixes_(BetaMixture::Helps(regularizer)),
      steps_(options.steps, ProjectionOf(regularizer)),
      mixture_(regularizer) {}

void Spg::Begin(std::span<double> theta) { regularizer_.Start(theta); }

void Spg::Move(const Evaluation& last, const Machine& machine, const RunState& state,
               std::span<double> theta) {
  if (mixes_) mixture_.Add(last, machine, state);
  if (options_.tunes_precision || state.target_gap < kPlainGap) steps_.UseSecants();
  std::vector<double> gradient(last.quadratics.size());
  regularizer_.Gradient(last.theta, gradient);
  for (std::size_t m = 0; m < gradient.size(); ++m) gradient[m] -= 0.5 * last.quadratics[m];
  std::copy(last.theta.begin(), last.theta.end(), theta.begin());
  steps_.Next(last.inner_dual, gradient, theta);
}

}  // namespace kweave
