// Norms of the positive part of a vector, safe from overflow and underflow for every exponent.
#ifndef KWEAVE_REGULARIZER_NORMS_H_
#define KWEAVE_REGULARIZER_NORMS_H_

#include <span>

namespace kweave {

/// The conjugate exponent r*, 1/r + 1/r* = 1, for 1 <= r <= infinity.
double ConjugateExponent(double r);

/// max over m of max(x_m, 0).
double LargestPositive(std::span<const double> x);

/// ||max(x, 0)||_r for 1 <= r <= infinity.
double PositiveNorm(std::span<const double> x, double r);

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_NORMS_H_
