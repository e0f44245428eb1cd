// Values of a kernel on sequences as a base of its own.
#ifndef KWEAVE_GRAM_SEQUENCE_BLOCK_H_
#define KWEAVE_GRAM_SEQUENCE_BLOCK_H_

#include <memory>

#include "gram/base_block.h"
#include "kernel/sequence_kernel.h"

namespace kweave {

/// What the values are computed from. The views must outlive it.
SequenceRequest SequencesOf(const BaseRequest& request);

template <class T>
std::unique_ptr<BaseBlock<T>> MakeSequenceBlock(const BaseRequest& request);

}  // namespace kweave

#endif  // KWEAVE_GRAM_SEQUENCE_BLOCK_H_
