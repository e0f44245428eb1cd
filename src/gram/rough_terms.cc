#include "gram/rough_terms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/dot.h"
#include "compute/cpu/chebyshev_rounding.h"

namespace kweave {

namespace {

// Relative; twice, as it is of first order.
constexpr double kRounding = (kRoughRows + 2) * std::numeric_limits<float>::epsilon();
// Terms and factors beyond, or below its inverse, might leave the range of floats or its normal numbers.
constexpr double kLarge = 1e15;

}  // namespace

std::vector<float> RoughTerms(std::span<const double> terms, std::span<const double> a, double error) {
  const double sum = SumOfMagnitudes(a), size = SumOfMagnitudes(terms);
  if (!(sum < kLarge && size < kLarge && size > 1 / kLarge)) return {};
  const double allowed = error / sum - kRounding * size;
  std::size_t count = terms.size();
  double removed = 0;
  while (count > 1 && removed + std::abs(terms[count - 1]) <= allowed) removed += std::abs(terms[--count]);
  std::vector<float> left(terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(count));
  // Some come back where there is no room for rounding beside what they are.
  while (!(removed + ChebyshevRounding(left) <= allowed)) {
    if (left.size() == terms.size()) return {};
    removed = std::max(removed - std::abs(terms[left.size()]), 0.0);
    left.push_back(static_cast<float>(terms[left.size()]));
  }
  return left;
}

}  // namespace kweave
