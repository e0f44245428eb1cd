// The regulariser that the options ask for.
#ifndef KWEAVE_TRAIN_REGULARIZER_CHOICE_H_
#define KWEAVE_TRAIN_REGULARIZER_CHOICE_H_

#include "kweave/options.h"
#include "regularizer/regularizer.h"
#include "train/prepared.h"

namespace kweave {

/// Whether it is ||theta||_p <= 1 and nothing else.
bool IsPlainNorm(const TrainOptions& options);

/// Without kernels: what it can do is known before them, for a check of the options. Throws Error(kUsage) on options that do
/// not go together or are out of range.
RegularizerPointer MakeRegularizer(const TrainOptions& options);

/// For the kernels kept. Reads the files that the options name; throws Error(kData) when they do not fit the kernels.
RegularizerPointer MakeRegularizer(const TrainOptions& options, const PreparedKernels& prepared,
                                   std::span<const View> views, std::uint64_t seed);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_REGULARIZER_CHOICE_H_
