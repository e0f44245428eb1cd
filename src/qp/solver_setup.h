// What every solver does before its first step and says about its last one.
#ifndef KWEAVE_QP_SOLVER_SETUP_H_
#define KWEAVE_QP_SOLVER_SETUP_H_

#include "qp/dual_problem.h"
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

/// The objective of the problem by the gradient, which must be that of beta.
double Objective(const DualProblem& problem, const SolverState& state);

}  // namespace kweave

#endif  // KWEAVE_QP_SOLVER_SETUP_H_
