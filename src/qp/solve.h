// The solvers of the dual problem by name, and which one suits a problem.
#ifndef KWEAVE_QP_SOLVE_H_
#define KWEAVE_QP_SOLVE_H_

#include "qp/dual_problem.h"
#include "qp/solver.h"

namespace kweave {

enum class SolverKind { kAuto, kSmo, kBlock };

/// The solver that kAuto stands for: the one that takes less time for `size` samples when `rows_kept` rows fit into
/// the cache, as measured by bench/smo_bench.
SolverKind ChooseSolver(Index size, Index rows_kept);

/// By the solver of this kind; `observer` may be null.
template <class T>
SolverResult SolveDual(SolverKind kind, const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                       const SolverOptions& options, SolveObserver* observer = nullptr);

extern template SolverResult SolveDual(SolverKind, const DualProblem&, RowSource<float>&, SolverState&,
                                       const SolverOptions&, SolveObserver*);
extern template SolverResult SolveDual(SolverKind, const DualProblem&, RowSource<double>&, SolverState&,
                                       const SolverOptions&, SolveObserver*);

}  // namespace kweave

#endif  // KWEAVE_QP_SOLVE_H_
