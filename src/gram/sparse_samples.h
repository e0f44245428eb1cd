#ifndef KWEAVE_GRAM_SPARSE_SAMPLES_H_
#define KWEAVE_GRAM_SPARSE_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/memory.h"
#include "compute/cpu/family_loops.h"
#include "kweave/dataset.h"

namespace kweave {

/// The columns that occur in some sparse rows, ascending, and their numbers from 0: work and memory follow
/// the entries, however large the indices are.
class OccurringColumns {
 public:
  explicit OccurringColumns(const SparseRows& rows);
  Index size() const { return static_cast<Index>(columns_.size()); }
  /// The number of a column, or -1 when it does not occur.
  Index NumberOf(std::int32_t column) const;

 private:
  std::vector<std::int32_t> columns_;
};

/// Sparse rows in the precision of the computation, by numbers of occurring columns; other columns are left
/// out.
template <class T>
class SparseSamples {
 public:
  SparseSamples(const SparseRows& rows, const OccurringColumns& columns);

  Index count() const { return static_cast<Index>(offsets_.size()) - 1; }
  Index entries() const { return offsets_.back(); }

  /// Calls use(column, value) for the entries of row i.
  template <class Use>
  void ForEntries(Index i, Use use) const {
    for (Index e = offsets_[i]; e < offsets_[i + 1]; ++e) use(columns_[e], values_[e]);
  }

  /// out[r * stride + (j - begin)] = sum_f weights_f x_f z_f over rows[r] of `left` and rows begin <= j < end
  /// of this, all weights 1 when there are none; both were made with `columns`.
  void Products(const SparseSamples& left, std::span<const Index> rows, std::span<const T> weights,
                Index column_count, Index begin, Index end, T* out, Index stride) const;

 private:
  std::vector<Index> offsets_{0};
  std::vector<std::int32_t> columns_;
  std::vector<T> values_;
};

/// The left and right samples of a matrix, which are the same in training, by the columns that occur on the
/// left.
template <class T>
class SparseSides {
 public:
  SparseSides(const View& left, const View& right, bool is_training);
  SparseSides(const SparseSides&) = delete;
  SparseSides& operator=(const SparseSides&) = delete;

  const OccurringColumns& columns() const { return columns_; }
  const SparseSamples<T>& left() const { return left_; }
  const SparseSamples<T>& right() const { return own_right_ ? *own_right_ : left_; }

  /// out[r * stride + (j - begin)] = sum_f weights_f x_f z_f over left rows[r] and right rows begin <= j <
  /// end, all weights 1 when there are none.
  void Products(std::span<const Index> rows, std::span<const T> weights, Index begin, Index end, T* out,
                Index stride) const {
    right().Products(left_, rows, weights, columns_.size(), begin, end, out, stride);
  }

 private:
  OccurringColumns columns_;
  SparseSamples<T> left_;
  std::optional<SparseSamples<T>> own_right_;
};

/// What such samples take at most, with values of so many bytes.
std::size_t SparseSampleBytes(const SparseRows& rows, std::size_t value_bytes);

}  // namespace kweave

#endif  // KWEAVE_GRAM_SPARSE_SAMPLES_H_
