#include "compute/cpu/packed_product.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/packed_product.cc"
// Tiles are arrays of vectors, which instruction sets with vectors of unknown length do not allow.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kweave::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of a tile, two vectors wide: all sums stay in registers.
constexpr int kTileRows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;

// One tile: kRows rows by two vectors of columns of one block.
template <int kRows, class T>
HWY_INLINE void Tile(const T* left, Index features, const T* block, T* sums) {
  const hn::ScalableTag<T> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  hn::Vec<decltype(d)> low[kRows], high[kRows];
  for (int r = 0; r < kRows; ++r) low[r] = high[r] = hn::Zero(d);
  for (Index f = 0; f < features; ++f) {
    const auto right_low = hn::LoadU(d, block + f * kPackedBlock);
    const auto right_high = hn::LoadU(d, block + f * kPackedBlock + lanes);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const auto x = hn::Set(d, left[r * features + f]);
      low[r] = hn::MulAdd(x, right_low, low[r]);
      high[r] = hn::MulAdd(x, right_high, high[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    hn::StoreU(low[r], d, sums + r * kPackedBlock);
    hn::StoreU(high[r], d, sums + r * kPackedBlock + lanes);
  }
}

// kRows rows by one block of columns, of which the first `count` are wanted.
template <int kRows, class T>
HWY_INLINE void RowsByBlock(const T* left, Index features, const T* block, Index count, bool add, T* out,
                            Index stride) {
  const hn::ScalableTag<T> d;
  const Index width = 2 * static_cast<Index>(hn::Lanes(d));
  alignas(64) T sums[kRows * kPackedBlock];
  for (Index first = 0; first < kPackedBlock; first += width) {
    Tile<kRows>(left, features, block + first, sums + first);
  }
  for (int r = 0; r < kRows; ++r) {
    const T* from = sums + r * kPackedBlock;
    T* to = out + r * stride;
    if (add) {
      for (Index j = 0; j < count; ++j) to[j] += from[j];
    } else {
      std::copy_n(from, count, to);
    }
  }
}

template <class T>
void Product(const T* left, Index rows, const PackedSamples<T>& right, Index begin, Index end, bool add,
             T* out, Index stride) {
  const Index features = right.features;
  for (Index j = begin; j < end; j += kPackedBlock) {
    const T* block = right.values.data() + j * features;
    const Index count = std::min(kPackedBlock, end - j);
    Index r = 0;
    const auto take = [&](auto rows_of_tile) HWY_ATTR {
      constexpr int kRows = decltype(rows_of_tile)::value;  // as the caller chose
      for (; r + kRows <= rows; r += kRows) {
        RowsByBlock<kRows>(left + r * features, features, block, count, add, out + r * stride + (j - begin),
                           stride);
      }
    };
    take(std::integral_constant<int, kTileRows>());
    take(std::integral_constant<int, kTileRows / 2>());
    take(std::integral_constant<int, 2>());
    take(std::integral_constant<int, 1>());
  }
}

void ProductF32(const float* left, Index rows, const PackedSamples<float>& right, Index begin, Index end,
                bool add, float* out, Index stride) {
  Product(left, rows, right, begin, end, add, out, stride);
}
void ProductF64(const double* left, Index rows, const PackedSamples<double>& right, Index begin, Index end,
                bool add, double* out, Index stride) {
  Product(left, rows, right, begin, end, add, out, stride);
}

}  // namespace kweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {

HWY_EXPORT(ProductF32);
HWY_EXPORT(ProductF64);

template <>
void PackedProduct<float>(const float* left, Index rows, const PackedSamples<float>& right, Index begin,
                          Index end, bool add, float* out, Index stride) {
  HWY_DYNAMIC_DISPATCH(ProductF32)(left, rows, right, begin, end, add, out, stride);
}
template <>
void PackedProduct<double>(const double* left, Index rows, const PackedSamples<double>& right, Index begin,
                           Index end, bool add, double* out, Index stride) {
  HWY_DYNAMIC_DISPATCH(ProductF64)(left, rows, right, begin, end, add, out, stride);
}

}  // namespace kweave
#endif  // HWY_ONCE
