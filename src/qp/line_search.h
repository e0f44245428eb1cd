#ifndef KWEAVE_QP_LINE_SEARCH_H_
#define KWEAVE_QP_LINE_SEARCH_H_

#include <algorithm>

namespace kweave {

/// The slope where a line search of Newton and quasi-Newton steps ends, as a share of that where it began:
/// their next step needs no more exact a minimum.
inline constexpr double kFlatSlope = 0.1;

/// Armijo's constant: the share of what the slope promises that a step must gain (Nocedal and Wright, section
/// 3.1; Birgin, Martinez and Raydan 2000).
inline constexpr double kSufficientDecrease = 1e-4;

/// Two places on a line and the slopes of a convex function there, below zero at the first and above it at
/// the second.
struct Bracket {
  double lower = 0, upper = 1;
  double slope_lower = -1, slope_upper = 1;
};

/// A place in the bracket where is_flat(slope), by the secant, where an end that stays counts half (the
/// Illinois rule); after kMostTrials the lower end reached.
template <class Slope, class IsFlat>
double FindFlat(const Slope& slope_at, Bracket bracket, const IsFlat& is_flat) {
  // A guard: the rule converges at order 1.44, in some ten; every second one halves the bracket at least.
  constexpr int kMostTrials = 40;
  auto [lower, upper, slope_lower, slope_upper] = bracket;
  for (int trial = 0; trial < kMostTrials; ++trial) {
    const double t = std::clamp(lower - slope_lower * (upper - lower) / (slope_upper - slope_lower),
                                0.95 * lower + 0.05 * upper, 0.05 * lower + 0.95 * upper);
    const double slope = slope_at(t);
    if (is_flat(slope)) return t;
    (slope < 0 ? lower : upper) = t;
    (slope < 0 ? slope_lower : slope_upper) = slope;
    (slope < 0 ? slope_upper : slope_lower) /= 2;
  }
  return lower;
}

}  // namespace kweave

#endif  // KWEAVE_QP_LINE_SEARCH_H_
