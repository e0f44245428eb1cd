// Sequential minimal optimisation of the dual problem, two variables a step.
//
// Solves     minimise 1/2 beta' K beta + linear' beta over lower <= beta <= upper, sum beta fixed or free
//            (qp/dual_problem.h; the signs of the labels are inside beta), with a kink at 0 and a curvature
//            of its own for every variable where the loss has them.
// Method     Fan, Chen, Lin: Working set selection using second order information for training support vector
//            machines, JMLR 6 (2005), algorithm 2 (WSS 2) with their -y_k grad_k written as -g_k. With
//            g = K beta + linear, I_up = {beta < upper}, I_low = {beta > lower} and
//            q_ij = K_ii + K_jj - 2 K_ij:
//              i = argmin over I_up of g,
//              j = argmax over {I_low, g_j > g_i} of (g_j - g_i)^2 / max(q_ij, tau),
//              beta_i += d, beta_j -= d, where d = (g_j - g_i) / max(q_ij, tau) is cut to the box,
//            until max over I_low of g - min over I_up of g <= tolerance.
//            At a kink the two derivatives differ: I_up goes by g + kink, I_low by g - kink, and a step ends
//            where a variable reaches its kink. So regression has one variable a sample, not a pair.
//            Curvature is added to the diagonal. A sum that is free is kept by one more variable
//            (qp/free_sum.h). A row costs as much as many steps, so pairs whose rows are in the cache go
//            first while the best of them violates half as much as the best of all did (the idea of
//            Glasmachers, Igel: Maximum-gain working set selection for support vector machines, JMLR 7,
//            2006); then rows of the variables that violate most are computed together.
//            Shrinking sets variables aside that stay at a bound or a kink for every g between those two, and
//            checks all of them before it ends.
// Takes and  a feasible beta, with its gradient if known; returns the last beta with its gradient, and how it
// returns    ended. Only a solve that says kConverged meets the tolerance on all variables. Wrong sizes, an
//            infeasible start or a tolerance below zero throw Error(kUsage).
// Holds      after every step: beta within its bounds, exactly on them when it touches them; the gradient of
//            the active variables in float64; sum beta up to rounding. Ends for every input: a matrix that is
//            not positive semidefinite takes steps of curvature tau, values that are not finite and lack of
//            progress are outcomes.
// Costs      two passes over the active variables a step; rows computed in batches of rows_per_batch and kept
//            in cache_bytes; about 100 bytes a sample beside that. One thread, but for what RowSource uses.
//
// Next on the main path: qp/row_store.h, then the row source of gram/.
#ifndef KWEAVE_QP_SMO_H_
#define KWEAVE_QP_SMO_H_

#include "qp/dual_problem.h"
#include "qp/solver.h"

namespace kweave {

/// T is the type of the rows: float or double. `observer` may be null.
template <class T>
SolverResult SolveSmo(const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                      const SolverOptions& options, SolveObserver* observer = nullptr);

extern template SolverResult SolveSmo(const DualProblem&, RowSource<float>&, SolverState&,
                                      const SolverOptions&, SolveObserver*);
extern template SolverResult SolveSmo(const DualProblem&, RowSource<double>&, SolverState&,
                                      const SolverOptions&, SolveObserver*);

}  // namespace kweave

#endif  // KWEAVE_QP_SMO_H_
