#include "weights/spg.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace kweave {

namespace {

constexpr int kSections = 12;

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
  if (!options.tunes_precision || !(regularizer.least_step_share() > 0)) return options;
  options.steps.is_scaled = true;
  options.steps.least_scale = regularizer.least_step_share();
  return options;
}

Spg::Spg(const Regularizer& regularizer, const SpgOptions& options)
    : regularizer_(regularizer), options_(options), steps_(options.steps, ProjectionOf(regularizer)) {}

void Spg::Begin(std::span<double> theta) { regularizer_.Start(theta); }

void Spg::Move(const Evaluation& last, const Machine& machine, const RunState&, std::span<double> theta) {
  if (machine.risk() != nullptr && !regularizer_.is_dual_smooth()) MixDual(last, machine);
  std::vector<double> gradient(last.quadratics.size());
  regularizer_.Gradient(last.theta, gradient);
  for (std::size_t m = 0; m < gradient.size(); ++m) gradient[m] -= 0.5 * last.quadratics[m];
  std::copy(last.theta.begin(), last.theta.end(), theta.begin());
  steps_.Next(last.inner_dual, gradient, theta);
}

// The best bound on the way from the mixture so far to the last beta. D is concave there: golden sections.
void Spg::MixDual(const Evaluation& last, const Machine& machine) {
  may_scale_ = machine.risk()->bias_slope == 0;
  if (gram_ != &machine.gram()) {
    gram_ = &machine.gram();
    dual_point_ = {last.beta, last.dual};
    mixed_quadratics_ = last.quadratics;
    mixed_linear_ = last.linear;
    return;
  }
  std::vector<double> products(last.quadratics.size());
  machine.expansion().Products(dual_point_.beta, products);
  constexpr double kGolden = 0.6180339887498949;
  double low = 0;
  double high = 1;
  double left = high - kGolden;
  double right = kGolden;
  double at_left = DualBetween(last, products, left);
  double at_right = DualBetween(last, products, right);
  for (int k = 0; k < kSections; ++k) {
    if (at_left < at_right) {
      low = left;
      left = std::exchange(right, low + kGolden * (high - low));
      at_left = std::exchange(at_right, DualBetween(last, products, right));
    } else {
      high = right;
      right = std::exchange(left, high - kGolden * (high - low));
      at_right = std::exchange(at_left, DualBetween(last, products, left));
    }
  }
  const double t = last.dual > std::max(at_left, at_right) ? 1 : at_left < at_right ? right : left;
  const double bound = DualBetween(last, products, t);
  if (!(bound > dual_point_.bound)) return;
  mixed_quadratics_ = between_;
  mixed_linear_ += t * (last.linear - mixed_linear_);
  dual_point_.bound = bound;
  for (std::size_t i = 0; i < last.beta.size(); ++i) {
    dual_point_.beta[i] += t * (last.beta[i] - dual_point_.beta[i]);
  }
}

// L is concave: between two betas it is at least what the line says.
double Spg::DualBetween(const Evaluation& last, std::span<const double> products, double t) {
  between_.resize(products.size());
  for (std::size_t m = 0; m < products.size(); ++m) {
    between_[m] =
        (1 - t) * ((1 - t) * mixed_quadratics_[m] + 2 * t * products[m]) + t * t * last.quadratics[m];
  }
  return LowerBound(regularizer_, (1 - t) * mixed_linear_ + t * last.linear, between_, may_scale_);
}

}  // namespace kweave
