#include "weights/spectral_gradient.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/dot.h"

namespace kweave {

namespace {

constexpr double kSufficientDecrease = 1e-4;  // gamma
constexpr double kLeastLength = 1e-30;        // of the first lambda
constexpr double kMostLength = 1e4;
constexpr double kFirstMemory = 0.85;
constexpr double kLeastMemory = 0.1;
constexpr double kMemoryChange = 0.025;
constexpr double kGoodFit = 0.25;  // |true / predicted change - 1| up to which the quadratic model is good
constexpr double kBadFit = 0.75;   // and from which it is bad
constexpr std::size_t kRemembered = 10;
constexpr double kShrink = 0.5;
constexpr int kStepsBeforeSecants = 10;
constexpr double kLeastSecantStep = 0.02;  // shorter ones: the curvatures mislead

}  // namespace

SpectralGradient::SpectralGradient(const SpectralOptions& options, Projection project)
    : options_(options), project_(std::move(project)) {}

void SpectralGradient::Next(double value, std::span<const double> gradient, std::span<double> theta) {
  const bool is_asked_for = std::equal(theta.begin(), theta.end(), asked_.begin(), asked_.end());
  if (!is_asked_for) {
    Start(value, gradient, theta);
    ChooseDirection();
  } else if (IsLowEnough(value)) {
    Accept(value, gradient);
    ChooseDirection();
  } else {
    step_ *= kShrink;
    if (is_secant_ && step_ < kLeastSecantStep) {
      secants_.Clear();
      ChooseDirection();
    }
  }
  Ask(theta);
}

// Without a gradient there is nowhere to go.
void SpectralGradient::Start(double value, std::span<const double> gradient, std::span<const double> theta) {
  theta_.assign(theta.begin(), theta.end());
  gradient_.assign(gradient.begin(), gradient.end());
  value_ = reference_ = value;
  weight_ = 1;
  memory_ = kFirstMemory;
  recent_.assign(1, value);
  ChooseScales();
  if (first_length_ > 0) return;
  double size = 0;
  for (std::size_t m = 0; m < gradient.size(); ++m) {
    const double g = gradient[m] * (scales_.empty() ? 1 : scales_[m]);
    size += g * g;
  }
  size = std::sqrt(size);
  const double reach = std::sqrt(Dot(theta, theta));
  first_length_ = length_ = size > 0 ? (reach > 0 ? reach : 1) / size : 1;
}

// Eq. (5), (9), (10).
bool SpectralGradient::IsLowEnough(double value) const {
  double reference = reference_;
  if (options_.search == LineSearch::kLast) reference = value_;
  if (options_.search == LineSearch::kMaximum) reference = *std::max_element(recent_.begin(), recent_.end());
  return value <= reference + kSufficientDecrease * step_ * slope_;
}

void SpectralGradient::Accept(double value, std::span<const double> gradient) {
  TuneForgetting(value);
  const double weight = memory_ * weight_ + 1;  // eq. (11)
  reference_ = (memory_ * weight_ * reference_ + value) / weight;
  weight_ = weight;
  recent_.push_back(value);
  if (recent_.size() > kRemembered) recent_.pop_front();
  ++accepted_;
  if (scales_.empty()) ChooseScales();  // the length is that of their metric
  if (options_.is_spectral) ChooseLength(gradient);
  NoteSecant(gradient);
  value_ = value;
  theta_ = asked_;
  gradient_.assign(gradient.begin(), gradient.end());
  ChooseScales();
}

void SpectralGradient::TuneForgetting(double value) {
  double curvature = 0;
  for (std::size_t m = 0; m < direction_.size(); ++m) {
    curvature += direction_[m] * direction_[m] / (scales_.empty() ? 1 : scales_[m]);
  }
  // Secants make the model lowest at the end of the direction, or still falling where the set ends.
  const double bend = is_secant_ ? -slope_ : curvature / length_;
  const double predicted = step_ * slope_ + 0.5 * step_ * step_ * bend;
  const double error = predicted == 0 ? 1 : std::abs((value - value_) / predicted - 1);
  if (error <= kGoodFit) memory_ = std::min(memory_ + kMemoryChange, 1.0);
  if (error >= kBadFit) memory_ = std::max(memory_ - kMemoryChange, kLeastMemory);
}

// Eq. (6).
void SpectralGradient::ChooseLength(std::span<const double> gradient) {
  double ss = 0;
  double sy = 0;
  for (std::size_t m = 0; m < asked_.size(); ++m) {
    const double s = asked_[m] - theta_[m];
    const double scaled = scales_.empty() ? s : s / scales_[m];
    ss += scaled * scaled;
    sy += scaled * (gradient[m] - gradient_[m]);
  }
  const double most = kMostLength * first_length_;
  length_ = sy > 0 ? std::clamp(ss / sy, kLeastLength * first_length_, most) : most;
}

void SpectralGradient::NoteSecant(std::span<const double> gradient) {
  if (!uses_secants_) return;
  std::vector<double> step = asked_, change(gradient.begin(), gradient.end());
  for (std::size_t m = 0; m < step.size(); ++m) {
    step[m] -= theta_[m];
    change[m] -= gradient_[m];
  }
  secants_.Add(std::move(step), std::move(change));
}

void SpectralGradient::ChooseScales() {
  if (!IsScaledNow()) return;
  const double largest = *std::max_element(theta_.begin(), theta_.end());
  const double floor = options_.least_scale * largest;
  scales_.resize(theta_.size());
  for (std::size_t m = 0; m < theta_.size(); ++m) scales_[m] = std::max(theta_[m], floor);
}

// Eq. (8), with the sign of a step.
void SpectralGradient::ChooseDirection() {
  is_secant_ = accepted_ >= kStepsBeforeSecants && !secants_.is_empty();
  if (is_secant_) {
    target_ = secants_.Minimize(theta_, gradient_, scales_, project_);
  } else {
    target_.resize(theta_.size());
    for (std::size_t m = 0; m < theta_.size(); ++m) {
      target_[m] = theta_[m] - length_ * gradient_[m] * (scales_.empty() ? 1 : scales_[m]);
    }
    project_(target_, scales_);
  }
  direction_.resize(theta_.size());
  for (std::size_t m = 0; m < theta_.size(); ++m) direction_[m] = target_[m] - theta_[m];
  slope_ = std::min(Dot(direction_, gradient_), 0.0);
  step_ = 1;
}

// The target itself at first: zeros stay zeros.
void SpectralGradient::Ask(std::span<double> theta) {
  for (std::size_t m = 0; m < theta.size(); ++m) {
    theta[m] = step_ == 1 ? target_[m] : theta_[m] + step_ * direction_[m];
  }
  asked_.assign(theta.begin(), theta.end());
}

}  // namespace kweave
