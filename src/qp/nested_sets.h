// Solver of the dual problem for matrices that multiply vectors fast: blocks inside an active set.
//
// Solves     the dual problem (qp/dual_problem.h), as qp/smo.h does, and to the same conditions.
// Method     two levels of decomposition (Osuna, Freund, Girosi, 1997; Joachims, 1999; an active set with a
//            small operator of its own around them). All variables are ranked by how far they are from
//            violating the conditions; the nearest, at least twice as many as are not zero, are the active
//            set A. Inside, a block B of the worst violators of A, half of them may grow and half may fall,
//            is solved by pairs (qp/smo.h) on rows between samples of B alone; one product with the matrix of
//            A brings the gradient of A up to date; until A violates a share of what all did. Then one
//            product with the whole matrix brings the gradient of all up to date.
// Takes and  as SolveSmo. A step in SolverOptions and SolverResult is one of a pair.
// returns
// Holds      beta within its bounds; the gradient of all variables in float64 whatever the precision of rows,
//            which only the choice of steps depends on. Ends for every input: no progress is an outcome.
// Costs      |B|^2 kernel values at most and a product with A for a block, a product with all samples for an
//            active set; rows of B in cache_bytes, about 100 bytes a sample.
//
// Next on the main path: qp/smo.h.
#ifndef KWEAVE_QP_NESTED_SETS_H_
#define KWEAVE_QP_NESTED_SETS_H_

#include "qp/dual_problem.h"
#include "qp/solver.h"

namespace kweave {

/// Whether a matrix that multiplies fast is worth the sets: few variables are solved by pairs at once.
bool ShouldNest(const DualProblem& problem);

/// `rows` must have products (RowSource::Products). `observer` may be null.
template <class T>
SolverResult SolveNested(const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                         const SolverOptions& options, SolveObserver* observer = nullptr);

extern template SolverResult SolveNested(const DualProblem&, RowSource<float>&, SolverState&,
                                         const SolverOptions&, SolveObserver*);
extern template SolverResult SolveNested(const DualProblem&, RowSource<double>&, SolverState&,
                                         const SolverOptions&, SolveObserver*);

}  // namespace kweave

#endif  // KWEAVE_QP_NESTED_SETS_H_
