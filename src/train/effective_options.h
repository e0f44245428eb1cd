#ifndef KWEAVE_TRAIN_EFFECTIVE_OPTIONS_H_
#define KWEAVE_TRAIN_EFFECTIVE_OPTIONS_H_

#include <string>
#include <vector>

#include "kweave/options.h"

namespace kweave {

/// The kernels asked for, or the default ones.
std::vector<std::string> EffectiveKernels(const TrainOptions& options);

/// The normalisation asked for, or the task's own.
std::string EffectiveNormalize(const TrainOptions& options);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_EFFECTIVE_OPTIONS_H_
