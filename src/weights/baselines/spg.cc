#include "weights/baselines/spg.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/dot.h"

namespace kweave {

SpectralGradient::SpectralGradient(const SpgParts& parts, Projection project)
    : is_spectral_(parts.is_spectral), project_(std::move(project)), rule_(parts.search) {}

void SpectralGradient::Next(double value, std::span<const double> gradient, std::span<double> theta) {
  const bool is_asked_for = std::ranges::equal(theta, asked_);
  if (!is_asked_for) {
    Start(value, gradient, theta);
    ChooseDirection();
  } else if (rule_.Accepts(value, step_, slope_)) {
    Accept(value, gradient);
    ChooseDirection();
  } else {
    step_ *= kStepShrink;
  }
  // The target itself at first: zeros stay zeros.
  for (std::size_t m = 0; m < theta.size(); ++m) {
    theta[m] = step_ == 1 ? target_[m] : theta_[m] + step_ * direction_[m];
  }
  asked_.assign(theta.begin(), theta.end());
}

// Without a gradient there is nowhere to go.
void SpectralGradient::Start(double value, std::span<const double> gradient, std::span<const double> theta) {
  theta_.assign(theta.begin(), theta.end());
  gradient_.assign(gradient.begin(), gradient.end());
  rule_.Start(value);
  if (first_length_ > 0) return;
  const double size = std::sqrt(Dot(gradient, gradient)), reach = std::sqrt(Dot(theta, theta));
  first_length_ = length_ = size > 0 ? (reach > 0 ? reach : 1) / size : 1;
}

void SpectralGradient::Accept(double value, std::span<const double> gradient) {
  const double curvature = Dot(direction_, direction_) / length_;
  rule_.Note(value, step_ * slope_ + 0.5 * step_ * step_ * curvature);
  if (is_spectral_) ChooseLength(gradient);
  theta_ = asked_;
  gradient_.assign(gradient.begin(), gradient.end());
}

// Eq. (6).
void SpectralGradient::ChooseLength(std::span<const double> gradient) {
  double ss = 0, sy = 0;
  for (std::size_t m = 0; m < asked_.size(); ++m) {
    const double s = asked_[m] - theta_[m];
    ss += s * s;
    sy += s * (gradient[m] - gradient_[m]);
  }
  length_ = SpectralLength(ss, sy, first_length_);
}

// Eq. (8), with the sign of a step.
void SpectralGradient::ChooseDirection() {
  target_.resize(theta_.size());
  for (std::size_t m = 0; m < theta_.size(); ++m) target_[m] = theta_[m] - length_ * gradient_[m];
  project_(target_, {});
  direction_.resize(theta_.size());
  for (std::size_t m = 0; m < theta_.size(); ++m) direction_[m] = target_[m] - theta_[m];
  slope_ = std::min(Dot(direction_, gradient_), 0.0);
  step_ = 1;
}

}  // namespace kweave
