// The solvers of the dual problem by name, and which one suits a problem.
#ifndef KWEAVE_QP_SOLVE_H_
#define KWEAVE_QP_SOLVE_H_

#include "kweave/choices.h"
#include "qp/dual_problem.h"
#include "qp/solver.h"

namespace kweave {

/// `kind`, or the solver on rows that kAuto stands for: the one that takes less time by what bench/smo_bench
/// measured.
template <class T>
SolverKind ChooseSolver(SolverKind kind, const DualProblem& problem, const SolverOptions& options);

/// By the solver that the matrix brings along, where it does (RowSource::MakeSolver); else by the solver of
/// this kind, one that needs rows only: kLinear (qp/linear.h) does not. `observer` may be null.
template <class T>
SolverResult SolveDual(SolverKind kind, const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                       const SolverOptions& options, SolveObserver* observer = nullptr);

extern template SolverResult SolveDual(SolverKind, const DualProblem&, RowSource<float>&, SolverState&,
                                       const SolverOptions&, SolveObserver*);
extern template SolverResult SolveDual(SolverKind, const DualProblem&, RowSource<double>&, SolverState&,
                                       const SolverOptions&, SolveObserver*);

}  // namespace kweave

#endif  // KWEAVE_QP_SOLVE_H_
