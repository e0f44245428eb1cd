#ifndef KWEAVE_BASE_GOLDEN_SECTIONS_H_
#define KWEAVE_BASE_GOLDEN_SECTIONS_H_

#include <numbers>

namespace kweave {

/// Where a convex function of one number between `low` and `high` is smallest, to 0.618^sections of their
/// distance. Rounding of the function hides what is closer than about 1e-8, or 40 sections; where it has
/// kinks, more tell.
template <class Function>
double SmallestByGoldenSections(double low, double high, int sections, const Function& function) {
  constexpr double kGolden = std::numbers::phi - 1;  // of an interval, from its other end
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  double left_value = function(left), right_value = function(right);
  for (int k = 0; k < sections; ++k) {
    if (left_value > right_value) {
      low = left;
      left = right;
      left_value = right_value;
      right = low + kGolden * (high - low);
      right_value = function(right);
    } else {
      high = right;
      right = left;
      right_value = left_value;
      left = high - kGolden * (high - low);
      left_value = function(left);
    }
  }
  return left_value > right_value ? right : left;
}

}  // namespace kweave

#endif  // KWEAVE_BASE_GOLDEN_SECTIONS_H_
