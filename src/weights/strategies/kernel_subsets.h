// Learns sparse weights of very many kernels on few of them at a time.
//
// Solves   the problem of weights/run/learn.h at norm 1 with more kernels than methods that look at all pairs
//          of them can take.
// Method   column generation. Of n samples no more than about n kernels end with a weight, and neighbours in
//          a list of widths are all but alike: learn on kernels spread evenly over the list, let the beta
//          that bounds the optimum of those measure all kernels, add the ones that it finds larger than every
//          kernel in use (of each run of neighbours the largest), and learn again from there. An exchange
//          method for semi-infinite programs (Hettich and Kortanek 1993).
// Takes    what LearnWeights does; the kernels can be selected (GramPair::some_kernels).
// Holds    the weights are feasible for all kernels and the bound is one over all of them, so the certificate
//          is that of the whole problem. Every round adds a kernel or ends.
// Costs    per round the learning on some hundred kernels and one pass of quadratics over all; memory for a
//          few vectors of one number per kernel.
#ifndef KWEAVE_WEIGHTS_STRATEGIES_KERNEL_SUBSETS_H_
#define KWEAVE_WEIGHTS_STRATEGIES_KERNEL_SUBSETS_H_

#include "weights/run/learn.h"

namespace kweave {

/// Whether weights are sparse, kernels very many, and the method left to choose.
bool ShouldLearnOnSubsets(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options);

Learned LearnOnSubsets(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                       RunControl& control);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_STRATEGIES_KERNEL_SUBSETS_H_
