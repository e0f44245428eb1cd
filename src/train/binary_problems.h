// Several machines of two classes each, on the same kernels.
//
// Solves   one lp-norm problem (docs/dev/notation.md) per machine, each with weights of its own, or the sum
//          of all of them with weights common to all.
// Method   every base quantity of the kernels is computed once and kept; the machines are then trained side
//          by side, one per thread, on kernels that read them, those on all samples with most samples left
//          out (weights/strategies/sample_screening.h), and certified together from one pass over the
//          kernels. Where memory does not allow that, one machine after the other is trained on all threads,
//          and the cache of the bases serves as far as it goes. Common weights: weights/run/learn_common.h.
// Takes    the problems; returns their machines with a report for each, and the run as a whole: bounds and
//          quadratics are summed, the relative gap is the largest, the weights are means.
// Holds    every machine is certified like one trained by itself.
// Costs    memory for all base quantities; each is computed at most once for all machines where they fit.
#ifndef KWEAVE_TRAIN_BINARY_PROBLEMS_H_
#define KWEAVE_TRAIN_BINARY_PROBLEMS_H_

#include <span>
#include <vector>

#include "train/multiclass.h"

namespace kweave {

/// Which samples one machine tells apart.
struct BinaryProblem {
  Index output = 0;                ///< the class of the samples with y = 1
  Index against = -1;              ///< that of the others; -1: all others
  std::vector<Index> rows = {};    ///< the samples, ascending; empty: all
  std::vector<double> y = {};      ///< -1 or 1
  std::vector<double> upper = {};  ///< C_i
  RegularizerPointer regularizer = nullptr;
  MachineProblem own =
      {};  ///< what the model keeps of it: how its costs and norm differ from those of others
};

LearnedMachines LearnBinaryProblems(const TrainingRun& run, std::span<const BinaryProblem> problems);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_BINARY_PROBLEMS_H_
