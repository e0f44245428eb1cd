// Solves     max over w >= 0, sum w = 1 of  l' w - f(max_g N_g(q(w))),  concave, with f and N_g convex and
//            q(w) as weights/models/mixture.h has it for a curved bundle: w enters N_g with its square.
// Method     Newton steps. A function of degree two is 1/2 w' H w with H its own second derivative at w, so
//            that value, slope and curvature of every N_g are one matrix, and the best w for these matrices
//            is the hull of weights/models/hull_saddle.h, with the weights of the groups as the other player.
//            Steps that do not rise are halved.
// Takes and  the parts of a dual term, and the model of its quadratics; theta of the result are the responses
//            within the groups
// returns    times the weights of the groups.
// Holds      every value is that of a feasible w; no other w is better by more than `error`. Differences end
//            at errors of 1e-9, seldom before 1e-10.
// Costs      per step 2 T best responses, M T^2 for the matrices, and a hull of as many kernels as there are
//            groups.
#ifndef KWEAVE_WEIGHTS_MODELS_LARGEST_MIXTURE_H_
#define KWEAVE_WEIGHTS_MODELS_LARGEST_MIXTURE_H_

#include <span>

#include "regularizer/regularizer.h"
#include "weights/models/mixture.h"

namespace kweave {

/// From `start`, a w. The precision is absolute.
MixturePoint SolveLargestMixture(const LargestPart& parts, const MixtureModel& model,
                                 std::span<const double> start, double precision);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_LARGEST_MIXTURE_H_
