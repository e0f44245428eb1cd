#include "weights/methods/projected_quasi_newton.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/dot.h"

namespace kweave {

namespace {

// Runs to gaps of 1e-3 mostly end before that many; from then on secants, and scales of norms, save
// evaluations.
constexpr int kSpectralSteps = 10;
constexpr double kLeastSecantStep = 0.02;  // shorter ones, after five halvings: the curvatures mislead

StepScales ScalesFor(const Regularizer& regularizer) {
  return {regularizer.least_step_share(), regularizer.lp_norm() != nullptr ? kSpectralSteps : 0};
}

}  // namespace

ProjectedQuasiNewton::ProjectedQuasiNewton(const StepScales& scaling, Projection project)
    : scaling_(scaling), project_(std::move(project)), rule_(LineSearch::kAverage) {}

ProjectedQuasiNewton::ProjectedQuasiNewton(const Regularizer& regularizer)
    : ProjectedQuasiNewton(ScalesFor(regularizer), ProjectionOf(regularizer)) {}

void ProjectedQuasiNewton::Next(double value, std::span<const double> gradient, std::span<double> theta) {
  const bool is_asked_for = std::ranges::equal(theta, asked_);
  if (!is_asked_for) {
    Start(value, gradient, theta);
    ChooseDirection();
  } else if (rule_.Accepts(value, step_, slope_)) {
    Accept(value, gradient);
    ChooseDirection();
  } else {
    step_ *= kStepShrink;
    if (is_secant_ && step_ < kLeastSecantStep) {
      secants_.Clear();
      ChooseDirection();
    }
  }
  // The target itself at first: zeros stay zeros.
  for (std::size_t m = 0; m < theta.size(); ++m) {
    theta[m] = step_ == 1 ? target_[m] : theta_[m] + step_ * direction_[m];
  }
  asked_.assign(theta.begin(), theta.end());
}

// Without a gradient there is nowhere to go.
void ProjectedQuasiNewton::Start(double value, std::span<const double> gradient,
                                 std::span<const double> theta) {
  theta_.assign(theta.begin(), theta.end());
  gradient_.assign(gradient.begin(), gradient.end());
  rule_.Start(value);
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

void ProjectedQuasiNewton::Accept(double value, std::span<const double> gradient) {
  rule_.Note(value, PredictedChange());
  ++accepted_;
  if (scales_.empty()) ChooseScales();  // the length is that of their metric
  ChooseLength(gradient);
  AddSecant(gradient);
  theta_ = asked_;
  gradient_.assign(gradient.begin(), gradient.end());
  ChooseScales();
}

// Secants make the model lowest at the end of the direction, or still falling where the set ends.
double ProjectedQuasiNewton::PredictedChange() const {
  double curvature = 0;
  for (std::size_t m = 0; m < direction_.size(); ++m) {
    curvature += direction_[m] * direction_[m] / (scales_.empty() ? 1 : scales_[m]);
  }
  const double bend = is_secant_ ? -slope_ : curvature / length_;
  return step_ * slope_ + 0.5 * step_ * step_ * bend;
}

void ProjectedQuasiNewton::ChooseLength(std::span<const double> gradient) {
  double ss = 0;
  double sy = 0;
  for (std::size_t m = 0; m < asked_.size(); ++m) {
    const double s = asked_[m] - theta_[m];
    const double scaled = scales_.empty() ? s : s / scales_[m];
    ss += scaled * scaled;
    sy += scaled * (gradient[m] - gradient_[m]);
  }
  length_ = SpectralLength(ss, sy, first_length_);
}

void ProjectedQuasiNewton::AddSecant(std::span<const double> gradient) {
  std::vector<double> step = asked_, change(gradient.begin(), gradient.end());
  for (std::size_t m = 0; m < step.size(); ++m) {
    step[m] -= theta_[m];
    change[m] -= gradient_[m];
  }
  secants_.Add(std::move(step), std::move(change));
}

void ProjectedQuasiNewton::ChooseScales() {
  if (scaling_.least == 0 || accepted_ < scaling_.plain_steps) return;
  const double floor = scaling_.least * *std::max_element(theta_.begin(), theta_.end());
  scales_.resize(theta_.size());
  for (std::size_t m = 0; m < theta_.size(); ++m) scales_[m] = std::max(theta_[m], floor);
}

void ProjectedQuasiNewton::ChooseDirection() {
  is_secant_ = accepted_ >= kSpectralSteps && !secants_.is_empty();
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

}  // namespace kweave
