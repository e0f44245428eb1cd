#ifndef KWEAVE_BASE_DOT_H_
#define KWEAVE_BASE_DOT_H_

#include <cmath>
#include <numeric>
#include <span>

namespace kweave {

/// The inner product of two vectors of one length.
inline double Dot(std::span<const double> a, std::span<const double> b) {
  return std::transform_reduce(a.begin(), a.end(), b.begin(), 0.0);
}

inline double Sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

inline double SumOfMagnitudes(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return sum;
}

}  // namespace kweave

#endif  // KWEAVE_BASE_DOT_H_
