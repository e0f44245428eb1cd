// Vectors of equal length under integer keys, the least recently used ones giving way to new ones.
//
// Memory is one block whose pages the operating system provides when a slot is first written, so a generous
// capacity costs nothing until it is used.
#ifndef KWEAVE_QP_ROW_CACHE_H_
#define KWEAVE_QP_ROW_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/memory.h"
#include "kweave/index.h"

namespace kweave {

template <class T>
class RowCache {
 public:
  /// Keys are 0 .. keys - 1; `capacity` rows (1 to keys of them) of `length` values each, in memory of the
  /// reserve if there is one.
  RowCache(Index keys, Index length, Index capacity, MemoryReserve* reserve = nullptr);

  Index capacity() const { return capacity_; }
  bool is_full() const { return used_ == capacity_; }
  bool Contains(Index key) const { return slot_of_key_[Offset(key)] != kNone; }
  /// The row, which becomes the most recently used, or null.
  const T* Find(Index key);
  /// A slot for a key that is absent, most recently used; the row it held before, if any, is forgotten.
  T* Insert(Index key);
  /// Where the next `count` inserted rows will lie, stride() apart, so that they can be written in advance;
  /// null when they will not be neighbours.
  T* NextSlots(Index count);
  /// Values from one row to the next in NextSlots.
  Index stride() const { return stride_; }
  /// Forgets all rows.
  void Clear();

 private:
  using Slot = std::int32_t;
  static constexpr Slot kNone = -1;
  static std::size_t Offset(Index i) { return static_cast<std::size_t>(i); }
  T* Row(Slot slot) { return values_ + slot * stride_; }
  void Unlink(Slot slot);
  void LinkNewest(Slot slot);

  Index stride_;                   // length, rounded up to whole cache lines
  Index capacity_;                 // slots in the block
  Index used_ = 0;                 // slots ever written: 0 .. used_ - 1
  LargeBuffer<T> block_;           // when there is no reserve
  T* values_;                      // capacity_ rows, uninitialised
  std::vector<Slot> slot_of_key_;  // kNone: absent
  std::vector<Index> key_of_slot_;
  std::vector<Slot> older_, newer_;  // a list through the used slots
  Slot oldest_ = kNone, newest_ = kNone;
};

extern template class RowCache<float>;
extern template class RowCache<double>;

}  // namespace kweave

#endif  // KWEAVE_QP_ROW_CACHE_H_
