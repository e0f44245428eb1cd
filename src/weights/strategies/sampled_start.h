// Solves   where theta should start, so that few of the expensive moves on all samples are left.
// Method   the same problem on a random part of the samples, of those with positive y and of the others in
//          proportion, each standing for several (its C grows accordingly), to a coarse gap; that start comes
//          from a part of the part, and so on.
// Takes    what LearnWeights takes; returns a feasible theta with the beta found for it, or nothing where it
//          would not pay: few samples, one kernel, weights that are fixed, or kernels that are known for all
//          samples only.
// Holds    no bound on the optimum: only a start. The same samples for the same signs of y and seed of the
//          run.
// Costs    with an eighth of the samples about a sixty-fourth of a solve on all of them for each move.
#ifndef KWEAVE_WEIGHTS_STRATEGIES_SAMPLED_START_H_
#define KWEAVE_WEIGHTS_STRATEGIES_SAMPLED_START_H_

#include <optional>

#include "weights/run/learn.h"

namespace kweave {

/// Beta is over all samples, and zero for those not drawn. It is not feasible: the C of those drawn were
/// larger.
std::optional<WarmStart> SampledStart(const GramPair& gram, const LearningProblem& problem,
                                      const LearnOptions& options, RunControl& control);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_STRATEGIES_SAMPLED_START_H_
