#include "weights/baselines/reduced_gradient.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/dot.h"
#include "qp/line_search.h"

namespace kweave {

namespace {

// Values are compared with each other: as precise as Jain et al. (2012) found that plain gradients need them.
constexpr double kInnerGap = 1e-6;
// The line search is left open in the paper: trials at most, and the share of the bracket that a trial keeps
// from its ends.
constexpr int kMostTrials = 10;
constexpr double kInset = 0.02;

}  // namespace

double ReducedGradient::inner_gap() const { return kInnerGap; }

void ReducedGradient::Move(const Evaluation& last, const Machine& machine, const RunState&,
                           std::span<double> theta) {
  const bool is_asked_for =
      gram_ == &machine.gram() && std::equal(theta.begin(), theta.end(), asked_.begin(), asked_.end());
  gram_ = &machine.gram();
  const bool is_full_step_lower = is_asked_for && trials_ == 0 && last.inner_dual < value_;
  if (is_full_step_lower && GoesOn(last)) {
    Ask(full_step_, theta);
    return;
  }
  if (is_asked_for && !is_full_step_lower && Searches(last)) {
    Ask(step_, theta);
    return;
  }
  ChooseDirection(last);
  Ask(full_step_, theta);
}

// Eq. (12).
void ReducedGradient::ChooseDirection(const Evaluation& last) {
  theta_ = last.theta;
  value_ = last.inner_dual;
  trials_ = 0;
  largest_ = static_cast<std::size_t>(std::max_element(theta_.begin(), theta_.end()) - theta_.begin());
  direction_.assign(theta_.size(), 0.0);
  for (std::size_t m = 0; m < theta_.size(); ++m) {
    const double reduced = 0.5 * (last.quadratics[largest_] - last.quadratics[m]);
    if (m == largest_ || (theta_[m] == 0 && reduced > 0)) continue;
    direction_[m] = -reduced;
    direction_[largest_] += reduced;
  }
  ChooseFullStep();
  first_slope_ = low_slope_ = Slope(last);
}

// To where the first weight vanishes.
void ReducedGradient::ChooseFullStep() {
  full_step_ = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < theta_.size(); ++m) {
    if (!(direction_[m] < 0) || -theta_[m] / direction_[m] >= full_step_) continue;
    full_step_ = -theta_[m] / direction_[m];
    vanishing_ = m;
  }
  if (std::isinf(full_step_)) full_step_ = 0;  // every weight that falls is zero: the optimum
}

// The descent direction update after a full step that lowered J: the line begins anew there, without the
// weight that vanished.
bool ReducedGradient::GoesOn(const Evaluation& last) {
  if (vanishing_ == largest_) return false;
  theta_ = last.theta;
  value_ = last.inner_dual;
  direction_[largest_] += direction_[vanishing_];
  direction_[vanishing_] = 0;
  low_slope_ = Slope(last);
  ChooseFullStep();
  return low_slope_ < 0 && full_step_ > 0;
}

// Whether the line between d and the full step is searched on.
bool ReducedGradient::Searches(const Evaluation& last) {
  const double slope = Slope(last);
  if (trials_ == 0) {
    low_ = 0;
    high_ = full_step_;
    high_slope_ = slope;
  } else {
    if (trials_ == kMostTrials ||
        (std::abs(slope) <= kFlatSlope * std::abs(first_slope_) && last.inner_dual <= value_)) {
      return false;
    }
    (slope < 0 ? low_ : high_) = step_;
    (slope < 0 ? low_slope_ : high_slope_) = slope;
  }
  ++trials_;
  const bool has_secant = low_slope_ < 0 && high_slope_ > 0;
  const double share = has_secant ? low_slope_ / (low_slope_ - high_slope_) : 0.5;
  step_ = low_ + std::clamp(share, kInset, 1 - kInset) * (high_ - low_);
  return true;
}

void ReducedGradient::Ask(double step, std::span<double> theta) {
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] = std::max(theta_[m] + step * direction_[m], 0.0);
  if (trials_ == 0 && full_step_ > 0) theta[vanishing_] = 0;
  asked_.assign(theta.begin(), theta.end());
}

double ReducedGradient::Slope(const Evaluation& last) const {
  return -0.5 * Dot(last.quadratics, direction_);
}

}  // namespace kweave
