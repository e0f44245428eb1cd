// How wrong values of a kernel may be by the rounding of what they follow from.
#ifndef KWEAVE_GRAM_VALUE_ROUNDING_H_
#define KWEAVE_GRAM_VALUE_ROUNDING_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "gram/base_block.h"
#include "kernel/shape.h"

namespace kweave {

/// A bound for kernels that fall, ever more slowly, with a quantity that was found with the errors of
/// BaseTraits::rounding: the fall over twice the error, where the quantity is least. Values of matrices given
/// as such are summed up as they are, and rounded to the largest of them. 0 where rounding is no more than
/// some units in the last place. T: float or double.
template <class T>
double RoundingOf(const Shape& shape, const KernelParameters& parameters, const BaseBlock<T>& base) {
  double largest = 0;
  for (const BaseRounding& at : base.traits().rounding) {
    const double above = shape.value(parameters, std::max(at.least - at.error, 0.0));
    const double below = shape.value(parameters, at.least + at.error);
    const double fall = std::abs(above - below);
    largest = std::max(largest, std::isnan(fall) ? std::numeric_limits<double>::infinity() : fall);
  }
  return std::max(largest, std::numeric_limits<double>::epsilon() * base.traits().largest_stored);
}

}  // namespace kweave

#endif  // KWEAVE_GRAM_VALUE_ROUNDING_H_
