#ifndef KWEAVE_BASE_GOLDEN_SECTIONS_H_
#define KWEAVE_BASE_GOLDEN_SECTIONS_H_

namespace kweave {

/// Where a convex function of one number between `low` and `high` is smallest, to 0.618^sections of their distance.
template <class Function>
double SmallestByGoldenSections(double low, double high, int sections, const Function& function) {
  constexpr double kGolden = 0.6180339887498949;
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
