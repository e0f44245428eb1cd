#include "regularizer/norms.h"

#include <algorithm>
#include <cmath>

#include "base/constants.h"

namespace kweave {

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
  if (r == 1 || r == 2) {
    for (const double value : x) {
      const double ratio = std::max(value, 0.0) / largest;
      sum += r == 1 ? ratio : ratio * ratio;
    }
    return largest * (r == 1 ? sum : std::sqrt(sum));
  }
  for (const double value : x) {
    if (value > 0) sum += std::pow(value / largest, r);
  }
  return largest * std::pow(sum, 1 / r);
}

void DropNegative(std::span<double> x) {
  for (double& value : x) value = std::max(value, 0.0);
}

std::vector<double> Spread(std::span<const double> q, double spread) {
  std::vector<double> spread_q(q.begin(), q.end());
  const double mean = PositiveNorm(q, 1) / static_cast<double>(q.size());
  for (double& value : spread_q) value = std::max(value, 0.0) + spread * mean;
  return spread_q;
}

void SpreadBack(double spread, std::span<double> theta) {
  if (spread == 0) return;
  const double mean = PositiveNorm(theta, 1) / static_cast<double>(theta.size());
  for (double& value : theta) value += spread * mean;
}

}  // namespace kweave
