// Learns kernel weights common to several machines of two classes each: those that minimise the sum of the
// objectives.
//
// Next on the main path: weights/run/common_machine.h.
#ifndef KWEAVE_WEIGHTS_RUN_LEARN_COMMON_H_
#define KWEAVE_WEIGHTS_RUN_LEARN_COMMON_H_

#include <span>
#include <vector>

#include "base/run_control.h"
#include "weights/run/learn.h"

namespace kweave {

/// The regulariser + the risks of all machines, which have the same samples.
struct CommonLearningProblem {
  std::vector<Risk> risks;
  RegularizerPointer regularizer;  ///< never null
};

/// Beta holds machine after machine, the certificate one bias for each. Throws Error(kUsage) when the method
/// does not serve.
Learned LearnCommon(const GramPair& gram, const CommonLearningProblem& problem, const LearnOptions& options,
                    RunControl& control);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_LEARN_COMMON_H_
