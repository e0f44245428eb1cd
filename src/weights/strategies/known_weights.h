// Learning past the gap, until the shares of the kernels in the sum of the weights are known.
//
// Solves   the learning problem to a gap that is small enough for every share to lie within a tolerance of
//          the one found, at every optimum (certificate/importance.h).
// Method   learns to the gap asked for, then, warm, to smaller and smaller ones: as small as the distance
//          still missing says, at most a hundredth of the last. What dual points of all rounds say of the
//          weights is kept. Where Theta and r are linear, as at norm 1, kernels that are alike are told apart
//          only by several dual points at once: two linear programs for every kernel mix them.
// Takes    any way to learn; returns its last answer.
// Holds    the status is that of the gap asked for unless the tolerance was asked for and not reached.
// Costs    nothing where no tolerance is asked for. Else further rounds of learning, and for a linear Theta
//          2 M linear programs of M variables per round.
#ifndef KWEAVE_WEIGHTS_STRATEGIES_KNOWN_WEIGHTS_H_
#define KWEAVE_WEIGHTS_STRATEGIES_KNOWN_WEIGHTS_H_

#include <functional>

#include "weights/run/learn.h"

namespace kweave {

Learned LearnUntilKnown(const Regularizer& regularizer, const LearnOptions& options, double tolerance,
                        const std::function<Learned(const LearnOptions&)>& learn, RunControl& control);

/// Adds mixtures of the dual points that tell more of single kernels than any of them does; for few kernels
/// with a norm of 1, else nothing.
void MixCuts(const Regularizer& regularizer, Certificate& certificate);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_STRATEGIES_KNOWN_WEIGHTS_H_
