// Problems whose variables have no sum to keep, for solvers that keep one.
//
// Solves     the dual problem (qp/dual_problem.h) with has_sum = false: a machine without bias.
// Method     one more variable that may be anything and costs nothing takes up the sum: a row and a column of
//            zeros. A step on it and another variable moves that one alone. Since the rows leave out a
//            constant, its row holds minus that constant instead.
// Takes and  what the solver takes and returns, for the variables of the problem; `solve` sees one more.
// returns
// Holds      the gradient of the added variable is zero, so that of the others is exact, not only up to a
//            constant.
// Costs      one more row.
#ifndef KWEAVE_QP_FREE_SUM_H_
#define KWEAVE_QP_FREE_SUM_H_

#include "qp/dual_problem.h"
#include "qp/solver.h"

namespace kweave {

template <class T>
using SolveFunction = SolverResult(const DualProblem&, RowSource<T>&, SolverState&, const SolverOptions&,
                                   SolveObserver*);

/// `observer` may be null.
template <class T>
SolverResult SolveFreeSum(SolveFunction<T>* solve, const DualProblem& problem, RowSource<T>& rows,
                          SolverState& state, const SolverOptions& options, SolveObserver* observer);

extern template SolverResult SolveFreeSum(SolveFunction<float>*, const DualProblem&, RowSource<float>&,
                                          SolverState&, const SolverOptions&, SolveObserver*);
extern template SolverResult SolveFreeSum(SolveFunction<double>*, const DualProblem&, RowSource<double>&,
                                          SolverState&, const SolverOptions&, SolveObserver*);

}  // namespace kweave

#endif  // KWEAVE_QP_FREE_SUM_H_
