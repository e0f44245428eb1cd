// Products of a few rows with very many: the many are packed once, so no call packs them again.
//
// A general matrix product packs both of its arguments on every call, which costs as much as the product
// itself when one of them has only tens of rows. Kernel rows are asked for in such batches, from samples that
// never change.
#ifndef KWEAVE_COMPUTE_CPU_PACKED_PRODUCT_H_
#define KWEAVE_COMPUTE_CPU_PACKED_PRODUCT_H_

#include <cstddef>

#include "base/memory.h"
#include "kweave/index.h"

namespace kweave {

/// Samples in blocks of kPackedBlock, feature after feature within a block; the last block is filled with
/// zeros. T: float or double.
inline constexpr Index kPackedBlock = 32;

/// What they take, with values of so many bytes.
inline std::size_t PackedBytes(Index samples, Index dimensions, std::size_t value_bytes) {
  return static_cast<std::size_t>((samples + kPackedBlock - 1) / kPackedBlock * kPackedBlock * dimensions) *
         value_bytes;
}

template <class T>
struct PackedSamples {
  Index count = 0;
  Index features = 0;
  AlignedVector<T> values;

  PackedSamples() = default;
  PackedSamples(Index samples, Index dimensions)
      : count(samples),
        features(dimensions),
        values((samples + kPackedBlock - 1) / kPackedBlock * kPackedBlock * dimensions) {}

  T& at(Index sample, Index feature) {
    return values[(sample / kPackedBlock * features + feature) * kPackedBlock + sample % kPackedBlock];
  }
  T at(Index sample, Index feature) const { return const_cast<PackedSamples*>(this)->at(sample, feature); }
  /// Writes the features of one sample to `out`.
  void CopySample(Index sample, T* out) const {
    const T* from = values.data() + sample / kPackedBlock * features * kPackedBlock + sample % kPackedBlock;
    for (Index f = 0; f < features; ++f) out[f] = from[f * kPackedBlock];
  }
};

/// out[r * stride + (j - begin)] = <left row r, right sample j> for begin <= j < end, `left` being row after
/// row. With `add` the products are added to `out`. `begin` is a multiple of kPackedBlock.
template <class T>
void PackedProduct(const T* left, Index rows, const PackedSamples<T>& right, Index begin, Index end, bool add,
                   T* out, Index stride);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_PACKED_PRODUCT_H_
