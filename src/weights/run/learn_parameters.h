// Learns the parameters of a kernel and its machine together.
//
// Solves     minimise over theta in Theta  W(theta) = r(theta) + max over feasible beta of L(beta) - 1/2
//            beta' K(theta) beta, K any differentiable function of theta, so W need not be convex.
// Method     Jain, Vishwanathan and Varma (KDD 2012), algorithm 1: gradient steps
//            (weights/methods/gradient_methods.h) on W, whose gradient is r' - 1/2 beta' (dK/dtheta_m) beta
//            by Danskin's theorem. The machine is trained as precisely as the projected gradient asks for
//            (eq. 13 has steps where this is proportional), and more so where steps become tiny. Several
//            starts: the regulariser's own, the best of some others, random ones.
// Takes and  kernel, problem and options; returns the theta with the smallest W of all starts. Its
//            certificate bounds W there, not
// returns    the minimum: how near theta is to a stationary point says the projected gradient,
//            max_m |theta_m - P(theta - s^2 grad W / |W|)_m| / s, s = max(1, largest theta_m), which depends
//            neither on the unit of W nor, far out, on that of theta. Converged: it is at most the target
//            gap, by float64 values, at the best theta of its start.
// Holds      the best theta so far, so it may end at any time.
// Costs      per step a warm solve, one pass for the gradient, and two for outputs.
#ifndef KWEAVE_WEIGHTS_RUN_LEARN_PARAMETERS_H_
#define KWEAVE_WEIGHTS_RUN_LEARN_PARAMETERS_H_

#include <cstdint>
#include <functional>

#include "gram/gram.h"
#include "weights/run/learn.h"

namespace kweave {

/// The kernel at the precision of the many calls and of the last ones, as in GramPair.
struct ParametricPair {
  Gram* working = nullptr;
  bool working_is_float = false;
  std::function<Gram&()> exact;
};

struct ParameterOptions {
  int restarts = 1;  ///< starting points in all
  /// Compares the regulariser's start with points near zero, single parameters (up to 32) and mixtures of
  /// these first, by rough solves, and starts from the best, too: for parameters >= 0 that can be as small or
  /// as large as any.
  bool looks_around = false;
  std::uint64_t seed = 0;
};

/// `options` as for LearnWeights; methods are those of GradientMethodTable. Throws Error(kUsage) for others,
/// and where the regulariser has no projection.
Learned LearnParameters(const ParametricPair& gram, const LearningProblem& problem,
                        const LearnOptions& options, const ParameterOptions& parameters, RunControl& control);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_LEARN_PARAMETERS_H_
