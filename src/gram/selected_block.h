#ifndef KWEAVE_GRAM_SELECTED_BLOCK_H_
#define KWEAVE_GRAM_SELECTED_BLOCK_H_

#include <memory>
#include <vector>

#include "gram/base_rows.h"

namespace kweave {

/// Base quantities between some training samples, taken from those between all of them: read where they are
/// kept, else computed with all columns. Several of these may read one source at once from several threads,
/// as long as nothing is kept there meanwhile. `samples`, ascending, is empty for all; the source must
/// outlive it.
template <class T>
std::unique_ptr<BaseBlock<T>> MakeSelectedBlock(const BaseRows<T>& source, std::vector<Index> samples);

}  // namespace kweave

#endif  // KWEAVE_GRAM_SELECTED_BLOCK_H_
