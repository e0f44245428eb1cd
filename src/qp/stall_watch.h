#ifndef KWEAVE_QP_STALL_WATCH_H_
#define KWEAVE_QP_STALL_WATCH_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kweave/index.h"

namespace kweave {

/// Solvers with bounds on both sides get on where the gap falls by this factor, ...
inline constexpr double kClearProgress = 0.8;
/// ... or the bound that they move by this share of the gap: far from the end the other one may wait for
/// long.
inline constexpr double kClearMove = 0.01;

/// Rounding can make steps circle. In a number of steps that grows with the problem, a solve that gets on
/// must lower the best violation by a tenth or the objective by a little.
class StallWatch {
 public:
  explicit StallWatch(Index size) : steps_between_checks_(std::max(kLeastSteps, kStepsPerSample * size)) {}

  /// Called at every step; looks closely once in a long while, and only then asks for the objective.
  template <class Objective>
  bool IsStalled(std::int64_t steps, double violation, const Objective& objective) {
    best_violation_ = std::min(best_violation_, violation);
    if (steps < next_check_) return false;
    next_check_ = steps + steps_between_checks_;
    const bool has_lower_violation = best_violation_ <= 0.9 * checked_violation_;
    checked_violation_ = best_violation_;
    if (has_lower_violation) return false;
    const double now = objective();
    const bool is_stalled = checked_objective_ - now < kLeastProgress * std::abs(now);
    checked_objective_ = now;
    return is_stalled;
  }

  /// The steps at which it will look next.
  std::int64_t next_check() const { return next_check_; }

  /// The problem changed.
  void Reset(std::int64_t steps) {
    best_violation_ = checked_violation_ = checked_objective_ = std::numeric_limits<double>::infinity();
    next_check_ = steps;
  }

 private:
  // A look costs as much as a step, so that thousands of steps make it free; four for every sample let all of
  // them move before a solve is given up.
  static constexpr Index kStepsPerSample = 4, kLeastSteps = 20000;
  static constexpr double kLeastProgress = 1e-12;  // relative to the objective

  std::int64_t steps_between_checks_;
  std::int64_t next_check_ = 0;
  double best_violation_ = std::numeric_limits<double>::infinity();
  double checked_violation_ = std::numeric_limits<double>::infinity();
  double checked_objective_ = std::numeric_limits<double>::infinity();
};

}  // namespace kweave

#endif  // KWEAVE_QP_STALL_WATCH_H_
