// Newton's method for machines with a smooth loss, by preconditioned conjugate gradients.
//
// Solves     minimise over beta, b:  1/2 beta' K beta + sum_i C_i l(f_i + b, y_i),  f = K beta; the sum of
//            beta is that of a feasible dual point (loss/risk.h) when there is a bias b.
// Method     Newton steps on the function values (Chapelle: Training a support vector machine in the primal,
//            2007): with g = C l', W = C l'' at f + b, the step d solves (K + W^-1) d + db = W^-1 (-g -
//            beta), sum d = 0; samples without curvature go to -g_i at once. For the squared loss that is the
//            whole solution. The system is solved by conjugate gradients on the plane sum d = 0, with a K in
//            single precision, until the duality gap of the quadratic model, 1/2 r' W r for a residual r, is
//            small enough; the outputs of the new beta are then computed at the precision of
//            RowSource::Multiply, so that single precision costs steps, not digits. The preconditioner
//            (qp/preconditioner.h) is made for one K and W and serves all others until the steps it takes
//            cost more than a new one. The step is brought into the intervals of beta, and shortened until
//            the objective falls; where it would not fall at all, the step goes towards -g, along which it
//            always does.
// Takes and  the risk, K, a feasible beta, with K beta in `gradient` if known, and the preconditioner of an
// returns    earlier solve; returns beta with K beta in `gradient`, and how it ended.
// Holds      beta stays feasible, so that primal and dual bounds are known after every step.
// Costs      a step: one Multiply of a dense beta, O(n) values, and some products with K: n^2 values each
//            when they fit into half of `memory_bytes`, else a pass over the rows. The observer is asked
//            between them.
#ifndef KWEAVE_QP_NEWTON_H_
#define KWEAVE_QP_NEWTON_H_

#include <cstddef>
#include <optional>

#include "loss/risk.h"
#include "qp/dual_problem.h"
#include "qp/preconditioner.h"
#include "qp/solver.h"

namespace kweave {

struct NewtonOptions {
  double relative_gap = 1e-3;  ///< between the primal and the dual bound of the problem
  std::int64_t max_steps = 200;
  std::size_t memory_bytes = std::size_t{512} << 20;  ///< for K and the preconditioner
  std::uint64_t seed = 0;                             ///< of the preconditioner
};

/// The loss of `risk` must be smooth. `preconditioner` is made when it is empty, and replaced when it no
/// longer serves. `observer` may be null. In the result, `violation` is the relative gap.
SolverResult SolveNewton(const Risk& risk, RowSource<float>& rows, SolverState& state,
                         std::optional<Preconditioner>& preconditioner, const NewtonOptions& options,
                         SolveObserver* observer = nullptr);

}  // namespace kweave

#endif  // KWEAVE_QP_NEWTON_H_
