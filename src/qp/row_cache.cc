#include "qp/row_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace kweave {

namespace {

// Whole cache lines or, for large blocks on systems that offer them, large pages: rows are long, and page
// faults and address look-ups would cost as much as reading them.
void* AllocateBlock(std::size_t bytes) {
  constexpr std::size_t kCacheLine = 64, kLargePage = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= 4 * kLargePage ? kLargePage : kCacheLine;
  const std::size_t whole_bytes = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, whole_bytes);
  if (block == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (alignment == kLargePage) madvise(block, whole_bytes, MADV_HUGEPAGE);
#endif
  return block;
}

}  // namespace

template <class T>
RowCache<T>::RowCache(Index keys, Index length, Index capacity)
    : stride_((length + 15) / 16 * 16),
      capacity_(capacity),
      block_(static_cast<T*>(AllocateBlock(Offset(capacity * stride_) * sizeof(T)))),
      slot_of_key_(Offset(keys), kNone) {
  key_of_slot_.resize(Offset(capacity));
  older_.resize(Offset(capacity));
  newer_.resize(Offset(capacity));
}

template <class T>
const T* RowCache<T>::Find(Index key) {
  const Slot slot = slot_of_key_[Offset(key)];
  if (slot == kNone) return nullptr;
  if (slot != newest_) {
    Unlink(slot);
    LinkNewest(slot);
  }
  return Row(slot);
}

template <class T>
T* RowCache<T>::Insert(Index key) {
  Slot slot;
  if (is_full()) {
    slot = oldest_;
    slot_of_key_[Offset(key_of_slot_[Offset(slot)])] = kNone;
    Unlink(slot);
  } else {
    slot = static_cast<Slot>(used_++);
  }
  slot_of_key_[Offset(key)] = slot;
  key_of_slot_[Offset(slot)] = key;
  LinkNewest(slot);
  return Row(slot);
}

template <class T>
T* RowCache<T>::NextSlots(Index count) {
  return used_ + count <= capacity_ ? Row(static_cast<Slot>(used_)) : nullptr;
}

template <class T>
void RowCache<T>::Clear() {
  std::fill(slot_of_key_.begin(), slot_of_key_.end(), kNone);
  used_ = 0;
  oldest_ = newest_ = kNone;
}

template <class T>
void RowCache<T>::Unlink(Slot slot) {
  const Slot older = older_[Offset(slot)], newer = newer_[Offset(slot)];
  (older == kNone ? oldest_ : newer_[Offset(older)]) = newer;
  (newer == kNone ? newest_ : older_[Offset(newer)]) = older;
}

template <class T>
void RowCache<T>::LinkNewest(Slot slot) {
  older_[Offset(slot)] = newest_;
  newer_[Offset(slot)] = kNone;
  (newest_ == kNone ? oldest_ : newer_[Offset(newest_)]) = slot;
  newest_ = slot;
}

template class RowCache<float>;
template class RowCache<double>;

}  // namespace kweave
