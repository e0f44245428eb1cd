// Solves   what LearnWeights solves, where most samples end with beta = 0, as they do with losses that are zero beyond a
//          margin.
// Method   chunking (Boser, Guyon, Vapnik: A training algorithm for optimal margin classifiers, COLT 1992, section 3).
//          A machine on a random part of the samples (weights/sampled_start.h) says which samples may count: those that
//          cost something within a slack of its outputs. Weights and machine are learned on these alone; its outputs
//          for all samples then show which were left out wrongly, they join, and learning goes on from where it was; the
//          first of these machines, coarse as it is, also says who need not have joined.
// Takes    what LearnWeights takes; returns what it returns.
// Holds    samples left out have beta = 0 and cost next to nothing, so bounds and certificate are those of all
//          samples. Where too many count, or the certificate disagrees, LearnWeights takes over.
// Costs    a pass from the support vectors to all samples for each round; all else as for the samples that count.
#ifndef KWEAVE_WEIGHTS_LEARN_SIFTED_H_
#define KWEAVE_WEIGHTS_LEARN_SIFTED_H_

#include "weights/learn.h"

namespace kweave {

Learned LearnSifted(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                    RunControl& control);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_LEARN_SIFTED_H_
