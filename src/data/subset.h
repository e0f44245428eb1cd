#ifndef KWEAVE_DATA_SUBSET_H_
#define KWEAVE_DATA_SUBSET_H_

#include <span>
#include <vector>

#include "kweave/dataset.h"

namespace kweave {

/// The samples at `rows` with all that is known of them; of kernel matrices their values with the samples at
/// `columns`: those that a model is trained on.
Dataset SelectSamples(const Dataset& data, std::span<const Index> rows, std::span<const Index> columns);

/// A file of kernel values between all `samples` in memory, under its name, so that it can be split. Throws
/// Error(kData) where it cannot be read or has another size.
GramMatrix ReadGramMatrix(const std::string& path, Index samples);

}  // namespace kweave

#endif  // KWEAVE_DATA_SUBSET_H_
