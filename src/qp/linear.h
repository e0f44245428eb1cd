// Machines on features: Newton's method in the space of the features, inside a proximal method where the loss
// has corners.
//
// Solves     minimise over w, b:  1/2 |w|^2 + sum_i C_i l(x_i w + b, y_i) + slope b  (loss/risk.h), which is
//            the dual problem (qp/dual_problem.h) with K = X X', for any loss.
// Method     a loss with corners is smoothed around a center c, and the center follows: the proximal point
//            method on beta, which is that of multipliers on w (Rockafellar: Augmented Lagrangians and
//            applications of the proximal point algorithm in convex programming, 1976; for machines of this
//            kind Yan, Li: An efficient augmented Lagrangian method for support vector machine, 2020). A step
//              solves
//              minimise over beta:  1/2 |X' beta|^2 + sum_i phi_i(beta_i) + |beta - c|^2 / (2 sigma),  sum
//                                   beta fixed,
//            by Newton steps on its dual function of w (Li, Sun, Toh: A highly efficient semismooth Newton
//            augmented Lagrangian method for solving Lasso problems, 2018). For outputs u = X w + b the best
//            beta_i is a clipped linear function of u_i; b makes their sum right; the gradient in w is w - X'
//            beta and 1/2 its square is what the step still misses; the Hessian I + sigma X_J' (centred) X_J
//            has only the samples J between their bounds, so it costs less as sigma grows. It is factored
//            where there are few features, else conjugate gradients multiply with it. A smooth loss is its
//            own smoothing: one step, with beta_i = -C_i l'(u_i).
// Takes and  the risk and its dual terms, X, a feasible beta; returns the beta of the smallest gap, X X' beta
//            in
// returns    `gradient`, and how it ended. `sigma` carries over from solve to solve.
// Holds      beta is feasible after every Newton step, so that primal and dual bounds are known.
// Costs      a Newton step: three passes over the entries of X at most, one of them over the support vectors
//            only; sum over J of squared entries per row and d^3 / 3 for the factor, d^2 values; no kernel
//            rows at all.
#ifndef KWEAVE_QP_LINEAR_H_
#define KWEAVE_QP_LINEAR_H_

#include <cstdint>

#include "base/threads.h"
#include "compute/cpu/feature_matrix.h"
#include "loss/risk.h"
#include "qp/dual_problem.h"
#include "qp/solver.h"

namespace kweave {

struct LinearOptions {
  double relative_gap = 1e-3;  ///< between the primal and the dual bound of the problem
  std::int64_t max_steps = 2000;
  Index most_to_factor = 1500;  ///< features
  ThreadPool* pool = nullptr;   ///< null: one thread
};

/// `terms` are those of `risk`; they are not read when its loss is smooth. `sigma` is where the step length
/// starts and ends, 0 for none yet. `observer` may be null; it may end the solve but not change X. In the
/// result, `violation` is the relative gap.
SolverResult SolveLinear(const Risk& risk, const DualProblem& terms, const FeatureMatrix& features,
                         SolverState& state, double& sigma, const LinearOptions& options,
                         SolveObserver* observer = nullptr);

}  // namespace kweave

#endif  // KWEAVE_QP_LINEAR_H_
