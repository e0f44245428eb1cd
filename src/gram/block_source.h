#ifndef KWEAVE_GRAM_BLOCK_SOURCE_H_
#define KWEAVE_GRAM_BLOCK_SOURCE_H_

#include <span>

#include "kweave/index.h"

namespace kweave {

/// What a LearnedMatrix may be besides: one that values between some samples cost far less of than their
/// rows, which would have to come from an accelerator.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// out[r size + c] = K(theta) - shift between samples r and c of the list.
  virtual void Block(std::span<const Index> samples, std::span<double> out) const = 0;
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_BLOCK_SOURCE_H_
