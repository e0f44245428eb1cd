#ifndef KWEAVE_TRAIN_EQUAL_SAMPLES_H_
#define KWEAVE_TRAIN_EQUAL_SAMPLES_H_

#include <optional>

#include "kweave/dataset.h"
#include "kweave/options.h"

namespace kweave {

/// The same problem with every sample once: of samples that are equal (FindEqualSamples) and have equal
/// labels, the first with a weight has the sum of their weights and the others have none. Nothing where all
/// differ, and where kernels come as matrices, which have a row for every sample. Factors of the model then
/// belong to the first of equal samples, and statistics of kernels (normalisation, data-driven widths,
/// leave-one-out) count it once.
std::optional<TrainOptions> MergeEqualSamples(const Dataset& data, const TrainOptions& options);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_EQUAL_SAMPLES_H_
