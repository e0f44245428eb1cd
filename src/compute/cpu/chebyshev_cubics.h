// Sums of Chebyshev polynomials, four terms at a time.
#ifndef KWEAVE_COMPUTE_CPU_CHEBYSHEV_CUBICS_H_
#define KWEAVE_COMPUTE_CPU_CHEBYSHEV_CUBICS_H_

#include <algorithm>
#include <array>
#include <span>

#include "compute/cpu/family_loops.h"

namespace kweave {

/// sum_k c_k T_k = sum_j T_4j Q_j with cubics Q_j: a step of Clenshaw's recurrence and three multiply-adds
/// for four terms, where the recurrence alone takes two operations for each. The cubics are in twice the
/// variable and follow from T_4j+r = 2 T_4j T_r - T_4j-r, from the highest term down.
template <class T>
struct ChebyshevCubics {
  explicit ChebyshevCubics(std::span<const T> coefficients)
      : count(static_cast<Index>(coefficients.size() + 3) / 4) {
    std::array<double, kMostTableTerms> c{};
    std::copy(coefficients.begin(), coefficients.end(), c.begin());
    for (Index j = count; j-- > 0;) {
      double* a = c.data() + 4 * j;
      for (Index r = 3; j > 0 && r > 0; --r) {
        c[4 * j - r] -= a[r];
        a[r] *= 2;
      }
      values[4 * j] = static_cast<T>(a[0] - a[2]);
      values[4 * j + 1] = static_cast<T>(0.5 * a[1] - 1.5 * a[3]);
      values[4 * j + 2] = static_cast<T>(0.5 * a[2]);
      values[4 * j + 3] = static_cast<T>(0.5 * a[3]);
    }
  }
  /// The coefficients of Q_j, the constant first.
  const T* Of(Index j) const { return values.data() + 4 * j; }

  Index count;
  std::array<T, kMostTableTerms> values;
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_CHEBYSHEV_CUBICS_H_
