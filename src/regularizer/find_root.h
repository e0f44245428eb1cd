#ifndef KWEAVE_REGULARIZER_FIND_ROOT_H_
#define KWEAVE_REGULARIZER_FIND_ROOT_H_

#include <cmath>

#include "base/constants.h"

namespace kweave {

/// A place where |f| <= precision, f a function that rises, from a guess: by growing steps to a bracket, then
/// by secants in it, where an end that stays counts half. Where f is infinite, by halves. f was last called
/// for the place returned.
template <class Function>
double FindRoot(const Function& f, double x, double precision) {
  constexpr double kShortest = 1e-15;  // of a bracket, relative: a few units in the last place
  double value = f(x);
  if (std::abs(value) <= precision) return x;
  double other = x, other_value = value;
  for (double step = 0.5; (value > 0) == (other_value > 0) && step < 1e3; step *= 2) {
    x = other, value = other_value;
    other = value > 0 ? x - step : x + step;
    other_value = f(other);
  }
  double low = value > 0 ? other : x, high = value > 0 ? x : other;
  double low_value = value > 0 ? other_value : value, high_value = value > 0 ? value : other_value;
  for (int trial = 0; trial < kMostRootSteps; ++trial) {
    const bool is_finite = std::isfinite(low_value) && std::isfinite(high_value);
    const double inside = low - low_value * (high - low) / (high_value - low_value);
    x = is_finite && inside > low && inside < high ? inside : low + 0.5 * (high - low);
    value = f(x);
    if (std::abs(value) <= precision || !(high - low > kShortest * (1 + std::abs(low)))) return x;
    if (value > 0) {
      high = x, high_value = value, low_value /= 2;
    } else {
      low = x, low_value = value, high_value /= 2;
    }
  }
  return x;
}

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_FIND_ROOT_H_
