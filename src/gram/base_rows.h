#ifndef KWEAVE_GRAM_BASE_ROWS_H_
#define KWEAVE_GRAM_BASE_ROWS_H_

#include <memory>
#include <span>
#include <vector>

#include "base/constants.h"
#include "base/memory.h"
#include "base/threads.h"
#include "compute/cpu/family_loops.h"
#include "gram/base_block.h"

namespace kweave {

/// Rows of one base quantity, kept between calls within a bound: they survive every change of theta.
///
/// A read has three parts: Prepare (one thread) finds rows and gives the missing ones a place; Read (any
/// number of threads, disjoint column ranges) computes what is missing and returns pointers; Commit (one
/// thread) makes the computed rows available to later calls.
template <class T>
class BaseRows {
 public:
  BaseRows(std::unique_ptr<BaseBlock<T>> block, Index left_count, Index right_count);

  /// How many rows may be kept. Rows above the bound are dropped.
  void SetCapacity(Index rows);

  /// Values are twice this variable of the quantity from now on, found once for all that ask for them.
  /// Nothing happens where rows are kept, or lie in memory, as they are.
  void MapTo(const TableVariable<T>& variable);
  bool is_mapped() const { return is_mapped_; }

  /// Computes and keeps every row, whatever the bound was.
  void KeepAll(ThreadPool& pool);
  /// Gives back the memory of rows and of what they are computed from, unless every row is kept. Later reads
  /// fill it anew.
  void Release();
  /// All columns of a row if it is kept, else null.
  const T* Kept(Index row) const {
    return slot_of_row_[row] != kNone && is_filled_[row] ? Slot(slot_of_row_[row]) : block_->Stored(row);
  }
  bool is_complete() const { return is_complete_; }
  /// How many values were computed so far.
  std::int64_t values_computed() const { return values_computed_; }

  struct Batch {
    std::vector<Index> rows;
    std::vector<T*> places;            ///< where row r is or will be kept; null: not kept
    std::vector<const T*> stored;      ///< where the block itself has row r; null: nowhere
    std::vector<std::size_t> missing;  ///< positions in `rows` that must be computed
    std::vector<Index> missing_rows;
    AlignedVector<T> missing_left;  ///< gathered for them
  };

  /// With `may_evict` rows not asked for lately make room for new ones; without, only free places are given.
  Batch Prepare(std::span<const Index> rows, bool may_evict);
  /// Batches of at most `rows_each` rows, to be read before the next ones are prepared.
  std::vector<Batch> PrepareAll(std::span<const Index> rows, std::size_t rows_each, bool may_evict = false);
  /// Pointers to the values of columns [begin, end) of every row of the batch, in `pointers`. `scratch` holds
  /// rows.size() * (end - begin) values.
  void Read(const Batch& batch, Index begin, Index end, T* scratch, std::vector<const T*>& pointers) const;
  void Commit(const Batch& batch);

  const BaseBlock<T>& block() const { return *block_; }
  BaseBlock<T>& block() { return *block_; }
  Index left_count() const { return static_cast<Index>(slot_of_row_.size()); }
  Index right_count() const { return right_count_; }

  /// What it takes to know which of so many rows are kept.
  static std::size_t PlaceBytes(Index left_count) {
    return left_count * (sizeof(std::int32_t) + sizeof(char));
  }

 private:
  static constexpr std::int32_t kNone = -1;  // no slot, or no row

  T* Slot(std::int32_t slot) const {
    return slabs_[slot / kRowsPerCall].data() + slot % kRowsPerCall * right_count_;
  }
  std::int32_t TakeSlot(bool may_evict);
  bool HasPlacesInOrder(const Batch& batch) const;

  std::unique_ptr<BaseBlock<T>> block_;
  Index right_count_ = 0;
  Index capacity_ = 0;
  /// Storage, made when first needed, in slabs of kRowsPerCall rows, as many as are read in a batch: slot s
  /// is row s % kRowsPerCall of slab s / kRowsPerCall.
  std::vector<LargeBuffer<T>> slabs_;
  std::vector<Index> row_of_slot_;         ///< kNone: free
  std::vector<char> was_used_;             ///< second-chance marks
  std::vector<std::int32_t> slot_of_row_;  ///< kNone: not kept
  std::vector<char> is_filled_;            ///< by row: the place holds values
  std::size_t hand_ = 0;
  std::int64_t values_computed_ = 0;
  TableVariable<T> variable_;  ///< of the values, if they are mapped
  bool is_mapped_ = false;
  bool is_complete_ = false;  ///< every row is kept
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_BASE_ROWS_H_
