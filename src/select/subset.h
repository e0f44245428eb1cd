#ifndef KWEAVE_SELECT_SUBSET_H_
#define KWEAVE_SELECT_SUBSET_H_

#include <cstdint>
#include <span>

#include "kweave/dataset.h"
#include "kweave/options.h"

namespace kweave {

/// The samples at `rows`, and of kernel matrices their values with the samples at `columns`: those that a
/// model is trained on. All else of `data` is left behind.
Dataset Subset(const Dataset& data, std::span<const Index> rows, std::span<const Index> columns);

/// The options for those samples: weights and kept samples follow them.
TrainOptions Subset(const TrainOptions& options, std::span<const Index> rows);

/// The data with all files of kernel values that the options name read into memory, so that they can be
/// split. Throws Error(kData) where one cannot be read, Error(kUsage) on kernels on pairs of sample and
/// class.
Dataset WithFiles(const Dataset& data, std::span<const TrainOptions> points);

/// A number that changes with features, kernel values, labels and ids.
std::uint64_t Fingerprint(const Dataset& data);

}  // namespace kweave

#endif  // KWEAVE_SELECT_SUBSET_H_
