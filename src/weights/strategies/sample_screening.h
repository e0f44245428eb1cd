// Screening of samples.
//
// Solves   what LearnWeights solves, where most samples end with beta = 0, as they do with losses that are
//          zero beyond a margin.
// Method   chunking (Boser, Guyon, Vapnik: A training algorithm for optimal margin classifiers, COLT 1992,
//          section 3). A machine on a random part of the samples (weights/strategies/sampled_start.h) says
//          which samples may count: those that cost something within a slack of its outputs. A coarse machine
//          on these alone has outputs for all samples that say it better, and is learned again where they say
//          that many had been left out; weights and machine are then learned on those. The certificate shows
//          which were left out wrongly: they join, and learning goes on from where it was.
// Takes    what LearnWeights takes; a start with outputs is a machine that may lack samples which count.
//          Returns what it returns; where it does not certify itself, samples may have been left out wrongly,
//          and its outputs are such a start.
// Holds    samples left out have beta = 0 and, once certified, cost next to nothing: bounds and certificate
//          are those of all samples. Where too many count, or the certificate disagrees and no sample joins,
//          LearnWeights takes over.
// Costs    two passes, seldom more, from few support vectors to all samples, and the certificate; all else as
//          for the samples that count.
#ifndef KWEAVE_WEIGHTS_STRATEGIES_SAMPLE_SCREENING_H_
#define KWEAVE_WEIGHTS_STRATEGIES_SAMPLE_SCREENING_H_

#include "weights/run/learn.h"

namespace kweave {

Learned LearnScreened(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                      RunControl& control);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_STRATEGIES_SAMPLE_SCREENING_H_
