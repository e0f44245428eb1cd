#include "regularizer/norms.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kweave {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double ConjugateExponent(double r) {
  if (r == 1) return kInfinity;
  return r == kInfinity ? 1 : r / (r - 1);
}

double LargestPositive(std::span<const double> x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, value);
  return largest;
}

double PositiveNorm(std::span<const double> x, double r) {
  const double largest = LargestPositive(x);
  if (largest == 0 || r == kInfinity) return largest;
  double sum = 0;
  for (const double value : x) {
    if (value > 0) sum += std::pow(value / largest, r);
  }
  return largest * std::pow(sum, 1 / r);
}

}  // namespace kweave
