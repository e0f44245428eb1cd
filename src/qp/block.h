// Block working-set solver of the dual problem: up to thousands of variables a step.
//
// Solves     the dual problem (qp/dual_problem.h), as qp/smo.h does, and to the same conditions.
// Method     decomposition (Osuna, Freund, Girosi, 1997; Joachims: Making large-scale SVM learning practical,
//            1999). A step takes a set B of variables, solves the problem over them with all others fixed
//            (qp/working_set.h) to a share of the violation there is, and then brings the gradient of all
//            variables up to date by the rows of those that moved: g += sum over B of d_b K_b.
//            B holds the variables that violate most, half of them may grow and half may fall. Rows cost far
//            more than steps, so variables whose rows are at hand go alone while they violate half as much as
//            the worst of all; else rows of the worst are computed together, one matrix product, and join
//            them.
// Takes and  as SolveSmo. A step in SolverOptions and SolverResult is one of a pair, so that limits mean the
//            same.
// returns
// Holds      beta within its bounds, exactly on them when it touches them; the gradient of all variables in
//            float64; sum beta up to rounding. Ends for every input, as SolveSmo.
// Costs      rows kept in cache_bytes, never fewer than the least working set; beside them |B|^2 values and
//            about 80 bytes a sample. A step that moves m variables reads m rows once; steps inside B cost a
//            pass over B, not over all variables, so large problems gain, and few rows need to be kept, so
//            little memory hurts little. Variables are split into pieces, fixed by the problem and not by the
//            threads of options.pool, which work on them side by side: a piece offers its worst violators,
//            and brings its part of the gradient up to date. Only the steps inside B run on one thread.
//
// Next on the main path: qp/working_set.h, then the row source of gram/.
#ifndef KWEAVE_QP_BLOCK_H_
#define KWEAVE_QP_BLOCK_H_

#include "qp/dual_problem.h"
#include "qp/solver.h"

namespace kweave {

/// T is the type of the rows: float or double. `observer` may be null.
template <class T>
SolverResult SolveBlock(const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                        const SolverOptions& options, SolveObserver* observer = nullptr);

extern template SolverResult SolveBlock(const DualProblem&, RowSource<float>&, SolverState&,
                                        const SolverOptions&, SolveObserver*);
extern template SolverResult SolveBlock(const DualProblem&, RowSource<double>&, SolverState&,
                                        const SolverOptions&, SolveObserver*);

}  // namespace kweave

#endif  // KWEAVE_QP_BLOCK_H_
