#include "qp/row_cache.h"

#include <algorithm>

namespace kweave {

template <class T>
RowCache<T>::RowCache(Index keys, Index length, Index capacity, MemoryReserve* reserve)
    : stride_((length + 15) / 16 * 16), capacity_(capacity), slot_of_key_(Offset(keys), kNone) {
  const std::size_t count = Offset(capacity * stride_);
  if (reserve == nullptr) block_ = LargeBuffer<T>(count);
  values_ = reserve == nullptr ? block_.data() : static_cast<T*>(reserve->Take(count * sizeof(T)));
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
