#ifndef KWEAVE_COMPUTE_CPU_CHEBYSHEV_TOTALS_H_
#define KWEAVE_COMPUTE_CPU_CHEBYSHEV_TOTALS_H_

#include <span>

namespace kweave {

/// totals[k] += sum_j factors[j] T_k(t[j]) for all k, at most kMostTableTerms of them (family_loops.h), T_k
/// the Chebyshev polynomials, -1 <= t[j] <= 1.
void AddChebyshevTotals(std::span<const double> t, std::span<const double> factors, std::span<double> totals);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_CHEBYSHEV_TOTALS_H_
