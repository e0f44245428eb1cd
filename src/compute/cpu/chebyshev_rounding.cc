#include "compute/cpu/chebyshev_rounding.h"

#include <cmath>
#include <limits>

#include "compute/cpu/chebyshev_cubics.h"

namespace kweave {

double ChebyshevRounding(std::span<const float> coefficients) {
  constexpr double kUnit = std::numeric_limits<float>::epsilon() / 2.0;  // of rounding to nearest
  double units = 0;
  for (std::size_t k = 1; k < coefficients.size(); ++k) {
    units += static_cast<double>(k * k) * std::abs(static_cast<double>(coefficients[k]));
  }
  const ChebyshevCubics<float> cubics(coefficients);
  double size = 0, rest = 0;                       // sum_{i >= j} P_i, and B_j
  double bound_after_next = 0, bound_of_next = 0;  // B_{j+2}, B_{j+1}
  for (Index j = cubics.count; j-- > 0;) {
    double largest = 0;  // P_j
    for (int r = 3; r >= 0; --r) largest = 2 * largest + std::abs(static_cast<double>(cubics.Of(j)[r]));
    size += largest;
    rest += size;
    const auto square = static_cast<double>(j * j);
    units += (8 + 5 * square) * largest + bound_after_next + 2 * bound_of_next + rest;
    bound_after_next = bound_of_next;
    bound_of_next = rest;
  }
  return 2 * kUnit * units;
}

}  // namespace kweave
