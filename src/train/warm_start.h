#ifndef KWEAVE_TRAIN_WARM_START_H_
#define KWEAVE_TRAIN_WARM_START_H_

#include "kweave/model.h"
#include "kweave/options.h"
#include "train/prepared.h"
#include "weights/run/learn.h"

namespace kweave {

/// Weights and duals of one machine of `start` for kernels and samples of this problem: kernels are matched
/// by name, samples by position, and duals at their bounds grow with C. Throws Error(kUsage) when it was
/// trained on another number of samples.
WarmStart MakeWarmStart(const Model& start, const PreparedSamples& samples, const PreparedKernels& prepared,
                        const TrainOptions& options, std::size_t machine = 0);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_WARM_START_H_
