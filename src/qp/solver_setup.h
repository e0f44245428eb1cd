// What every solver does before its first step, between batches of steps, and after its last one.
#ifndef KWEAVE_QP_SOLVER_SETUP_H_
#define KWEAVE_QP_SOLVER_SETUP_H_

#include <vector>

#include "qp/dual_problem.h"
#include "qp/free_sum.h"
#include "qp/solver.h"

namespace kweave {

/// Throws Error(kUsage) for wrong sizes, an infeasible start or options out of range.
void ValidateSolve(const DualProblem& problem, Index rows, const SolverState& state,
                   const SolverOptions& options);

/// The limit that options.max_steps stands for.
std::int64_t MostSteps(const DualProblem& problem, const SolverOptions& options);

/// Computes the gradient of state.beta unless it is valid.
template <class T>
void CompleteGradient(const DualProblem& problem, RowSource<T>& rows, SolverState& state);

/// Writes the diagonal of the matrix of the problem; false where it or the gradient is not finite.
template <class T>
bool FillDiagonal(const DualProblem& problem, RowSource<T>& rows, const SolverState& state,
                  std::vector<double>& diagonal);

/// The objective of the problem by the gradient, which must be that of beta.
double Objective(const DualProblem& problem, const SolverState& state);

/// The violation of all variables (SolverOptions::tolerance), likewise.
double Violation(const DualProblem& problem, const SolverState& state);

/// Lets a solver work from a state with a valid gradient until the tolerance holds or nothing is left to do;
/// between batches of steps the observer looks, who may be null.
SolverResult RunSolver(DualSolver& solver, const DualProblem& problem, SolverState& state,
                       const SolverOptions& options, SolveObserver* observer);

/// What a solver of problems with a sum does as a function: SolveBy<Smo, float>. Problems without one go by
/// way of SolveFreeSum.
template <template <class> class Solver, class T>
SolverResult SolveBy(const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                     const SolverOptions& options, SolveObserver* observer) {
  ValidateSolve(problem, rows.size(), state, options);
  if (!problem.has_sum) return SolveFreeSum<T>(SolveBy<Solver, T>, problem, rows, state, options, observer);
  CompleteGradient<T>(problem, rows, state);
  Solver<T> solver(problem, rows, options);
  return RunSolver(solver, problem, state, options, observer);
}

}  // namespace kweave

#endif  // KWEAVE_QP_SOLVER_SETUP_H_
