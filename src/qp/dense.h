// Second-order solvers for few samples, where steps on single samples or in single precision no longer get
// anywhere.
//
// Solves     minimise over feasible beta  1/2 beta' K beta - L(beta), as the other solvers do, with K whole
//            in double precision.
// Method     Betas with ends or corners: a primal-dual interior point with Mehrotra's predictor and corrector
//            (Mehrotra 1992; Fine and Scheinberg 2001 for this dual); a beta with a corner at 0 is the
//            difference of two variables >= 0. Betas without ends: Newton's method on the outputs with a line
//            search. Either way a step comes from the Cholesky factor of I + S K S, S a diagonal (Rasmussen
//            and Williams 2006, section 3.4.3), which no sample without curvature or at its bound spoils.
// Takes and  risk, K and a feasible beta; returns the beta with the smallest gap seen, never a worse one than
//            it was
// returns    given, and that relative gap.
// Costs      n^3 / 3 per step, some 10 to 60 steps; n^2 doubles beside K.
#ifndef KWEAVE_QP_DENSE_H_
#define KWEAVE_QP_DENSE_H_

#include <functional>
#include <span>
#include <vector>

#include "kweave/index.h"
#include "loss/risk.h"

namespace kweave {

/// Up to this many samples a step takes a few tenths of a second at most.
inline constexpr Index kMostDenseSamples = 1000;

/// K, row after row: positive semidefinite, for problems whose betas sum to 0 up to constants added to whole
/// rows and columns.
struct DenseMatrix {
  std::vector<double> values;
  Index size = 0;

  void Multiply(std::span<const double> x, std::span<double> out) const;
};

/// Rows of K as sources give them, `shift` left out everywhere. With `sums_to_zero` the rows are centred:
/// nothing is lost that such betas could see, and no digits where all values are close to each other.
DenseMatrix MakeDenseMatrix(std::vector<double> rows, Index size, double shift, bool sums_to_zero);

/// `proceed` is asked between steps; false ends them.
double SolveDense(const Risk& risk, const DenseMatrix& K, double relative_gap, std::vector<double>& beta,
                  const std::function<bool()>& proceed);

}  // namespace kweave

#endif  // KWEAVE_QP_DENSE_H_
