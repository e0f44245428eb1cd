// Solves     min over x >= 0 of  1/2 x' E x - c' x,  E symmetric and positive definite.
// Method     block principal pivoting (Judice, Pires 1994): the set of positive entries is guessed, the
//            others are zero; all entries that break a sign change sides at once, or only the last one where
//            that does not help, so that it ends.
// Takes and  E row after row and c; returns x.
// returns
// Holds      x >= 0.
// Costs      few Cholesky factors of the entries that are positive.
#ifndef KWEAVE_REGULARIZER_NONNEGATIVE_QP_H_
#define KWEAVE_REGULARIZER_NONNEGATIVE_QP_H_

#include <span>
#include <vector>

namespace kweave {

std::vector<double> SolveNonnegative(std::span<const double> E, std::span<const double> c);

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_NONNEGATIVE_QP_H_
