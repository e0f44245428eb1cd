// Solves   how far AddChebyshev<float> may be from sum_k c_k T_k(t) by rounding alone.
// Method   with u the unit roundoff: x = 2 t is rounded to float, which moves T_k by at most k^2 u. The sum
//          is that of T_j(s) Q_j(x) with s = T_4(t), cubics Q_j, |Q_j| <= P_j = sum_r |q_jr| 2^r. Errors of a
//          step j of Clenshaw's recurrence act like errors of Q_j, and |T_j| <= 1: they are those of the
//          cubic, at most 7 u P_j, and those of the step, u (|Q_j| + |b_j+2| + 2 |b_j+1| + |b_j|) with |b_j|
//          <= B_j = sum_{i >= j} (i - j + 1) P_i. Errors of s, 5 u, move T_j by at most 5 j^2 u.
// Takes    the coefficients in float, in the range of its normal numbers; t is known in float64, and the base
//          values are mapped (TableVariable). Returns a bound on the error.
// Holds    with and without fused multiply-adds; terms of second order are covered by taking everything
//          twice.
// Costs    a few operations for each term.
#ifndef KWEAVE_COMPUTE_CPU_CHEBYSHEV_ROUNDING_H_
#define KWEAVE_COMPUTE_CPU_CHEBYSHEV_ROUNDING_H_

#include <span>

namespace kweave {

/// In the unit of the coefficients: that of a multiple of them is the same multiple.
double ChebyshevRounding(std::span<const float> coefficients);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_CHEBYSHEV_ROUNDING_H_
