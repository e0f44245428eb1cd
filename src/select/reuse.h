// Points whose answer is known already.
//
// Solves   whether the answer at one C is also an answer at another.
// Method   for the hinge loss and a p-norm on the weights, beta is feasible at C' where |beta_i| <= C'_i, and
//          its lower bound D = sum |beta_i| - 1/2 ||q||_p* does not depend on C. The same function has the
//          upper bound P' = P + (C' / C - 1) (P - 1/2 sum theta_m q_m), since the rest of P is C times the
//          losses. Once C binds no more, as on paths to large C, the gap between them stays small.
// Takes    a model and options that differ in C; says whether P' and D are within the gap asked for.
// Holds    the bounds are those of the solver, as for every other point of a path.
// Costs    a pass over the support vectors and the kernels; no kernel value.
#ifndef KWEAVE_SELECT_REUSE_H_
#define KWEAVE_SELECT_REUSE_H_

#include "kweave/model.h"
#include "kweave/options.h"

namespace kweave {

/// False where nothing is known: other losses, regularisers, or several machines. The kernels must be the
/// same.
bool AlsoSolves(const Model& model, const TrainOptions& options);

}  // namespace kweave

#endif  // KWEAVE_SELECT_REUSE_H_
