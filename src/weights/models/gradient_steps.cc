#include "weights/models/gradient_steps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "qp/line_search.h"

namespace kweave {

namespace {

// Eta begins where Zhang and Hager (2004) keep it. That it follows the fit of the quadratic model is in Jain
// et al. (2012), who give no numbers: small changes, so that it takes tens of steps from one end to the
// other.
constexpr double kFirstMemory = 0.85, kLeastMemory = 0.1, kMemoryChange = 0.025;
// |true / predicted change - 1|: a trust region would grow up to the one and shrink from the other on
// (Nocedal and Wright, algorithm 4.1).
constexpr double kGoodFit = 0.25, kBadFit = 0.75;
constexpr std::size_t kRemembered = 10;  // as Birgin, Martinez and Raydan (2000) have it

}  // namespace

Projection ProjectionOf(const Regularizer& regularizer) {
  return [&regularizer](std::span<double> theta, std::span<const double> scales) {
    regularizer.Project(theta, scales);
  };
}

double SpectralLength(double ss, double sy, double first_length) {
  constexpr double kLeast = 1e-30, kMost = 1e4;  // see the header
  const double most = kMost * first_length;
  return sy > 0 ? std::clamp(ss / sy, kLeast * first_length, most) : most;
}

void LineSearchRule::Start(double value) {
  last_ = reference_ = value;
  weight_ = 1;
  memory_ = kFirstMemory;
  recent_.assign(1, value);
}

bool LineSearchRule::Accepts(double value, double step, double slope) const {
  double reference = reference_;
  if (search_ == LineSearch::kLast) reference = last_;
  if (search_ == LineSearch::kMaximum) reference = *std::max_element(recent_.begin(), recent_.end());
  return value <= reference + kSufficientDecrease * step * slope;
}

void LineSearchRule::Note(double value, double predicted_change) {
  const double error = predicted_change == 0 ? 1 : std::abs((value - last_) / predicted_change - 1);
  if (error <= kGoodFit) memory_ = std::min(memory_ + kMemoryChange, 1.0);
  if (error >= kBadFit) memory_ = std::max(memory_ - kMemoryChange, kLeastMemory);
  const double weight = memory_ * weight_ + 1;
  reference_ = (memory_ * weight_ * reference_ + value) / weight;
  weight_ = weight;
  recent_.push_back(value);
  if (recent_.size() > kRemembered) recent_.pop_front();
  last_ = value;
}

void GradientMethod::Move(const Evaluation& last, const Machine&, const RunState&, std::span<double> theta) {
  std::vector<double> gradient(last.quadratics.size());
  regularizer_.Gradient(last.theta, gradient);
  for (std::size_t m = 0; m < gradient.size(); ++m) gradient[m] -= 0.5 * last.quadratics[m];
  std::copy(last.theta.begin(), last.theta.end(), theta.begin());
  steps_->Next(last.inner_dual, gradient, theta);
}

}  // namespace kweave
