#include "gram/base_rows.h"

#include <algorithm>
#include <numeric>

namespace kweave {

namespace {

constexpr Index kColumnsAtATime = 512;  // a multiple of what blocks are computed in
constexpr Index kSlabsPerThread = 2;    // few, as each has a copy of its samples

}  // namespace

template <class T>
BaseRows<T>::BaseRows(std::unique_ptr<BaseBlock<T>> block, Index left_count, Index right_count)
    : block_(std::move(block)),
      right_count_(right_count),
      slot_of_row_(left_count, kNone),
      is_filled_(left_count, 0),
      is_mapped_(block_->traits().is_mapped) {}

template <class T>
void BaseRows<T>::SetCapacity(Index rows) {
  capacity_ = std::min<Index>(rows, static_cast<Index>(slot_of_row_.size()));
  if (static_cast<Index>(row_of_slot_.size()) <= capacity_) return;
  for (std::size_t s = capacity_; s < row_of_slot_.size(); ++s) {
    if (row_of_slot_[s] != kNone) slot_of_row_[row_of_slot_[s]] = kNone;
  }
  slabs_.resize((capacity_ + kRowsPerCall - 1) / kRowsPerCall);
  row_of_slot_.resize(capacity_);
  was_used_.resize(capacity_);
  hand_ = 0;
}

template <class T>
void BaseRows<T>::MapTo(const TableVariable<T>& variable) {
  if (is_mapped_ || block_->traits().is_view || !row_of_slot_.empty()) return;
  variable_ = variable;
  is_mapped_ = true;
}

template <class T>
std::int32_t BaseRows<T>::TakeSlot(bool may_evict) {
  const Index used = static_cast<Index>(row_of_slot_.size());
  if (used < capacity_) {
    // The bound may grow while the last slab is in use.
    if (used % kRowsPerCall == 0)
      slabs_.emplace_back(std::min(kRowsPerCall, left_count() - used) * right_count_);
    row_of_slot_.push_back(kNone);
    was_used_.push_back(0);
    return static_cast<std::int32_t>(used);
  }
  if (!may_evict || used == 0) return kNone;
  // Second chance; marks of the running batch are 2 and protect their rows. Two rounds clear all others.
  for (std::size_t tries = 0; tries < 2 * row_of_slot_.size() + 1;
       ++tries, hand_ = (hand_ + 1) % row_of_slot_.size()) {
    if (was_used_[hand_] == 2) continue;
    if (was_used_[hand_] == 1) {
      was_used_[hand_] = 0;
      continue;
    }
    const auto slot = static_cast<std::int32_t>(hand_);
    hand_ = (hand_ + 1) % row_of_slot_.size();
    if (row_of_slot_[slot] != kNone) slot_of_row_[row_of_slot_[slot]] = kNone;
    return slot;
  }
  return kNone;
}

template <class T>
void BaseRows<T>::KeepAll(ThreadPool& pool) {
  SetCapacity(left_count());
  std::vector<Index> rows(static_cast<std::size_t>(left_count()));
  std::iota(rows.begin(), rows.end(), Index{0});
  const std::size_t rows_at_a_time = static_cast<std::size_t>(kRowsPerCall * kSlabsPerThread * pool.size());
  for (std::size_t first = 0; first < rows.size(); first += rows_at_a_time) {
    const auto some =
        std::span<const Index>(rows).subspan(first, std::min(rows_at_a_time, rows.size() - first));
    const std::vector<Batch> batches = PrepareAll(some, kRowsPerCall);
    pool.ParallelFor(static_cast<Index>(batches.size()), 1, [&](Index b, Index, int) {
      thread_local AlignedVector<T> scratch;
      thread_local std::vector<const T*> pointers;
      scratch.resize(std::max<std::size_t>(scratch.size(), batches[b].missing.size() * kColumnsAtATime));
      for (Index begin = 0; begin < right_count_; begin += kColumnsAtATime) {
        Read(batches[b], begin, std::min(begin + kColumnsAtATime, right_count_), scratch.data(), pointers);
      }
    });
    for (const Batch& batch : batches) Commit(batch);
  }
  is_complete_ = true;
  block_->DropCopies();
}

template <class T>
void BaseRows<T>::Release() {
  if (is_complete_) return;
  const Index capacity = capacity_;
  SetCapacity(0);
  SetCapacity(capacity);
  block_->DropCopies();
}

template <class T>
typename BaseRows<T>::Batch BaseRows<T>::Prepare(std::span<const Index> rows, bool may_evict) {
  Batch batch;
  batch.rows.assign(rows.begin(), rows.end());
  batch.places.assign(rows.size(), nullptr);
  batch.stored.assign(rows.size(), nullptr);
  for (Index row : rows) {
    if (slot_of_row_[row] != kNone) was_used_[slot_of_row_[row]] = 2;
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Index row = rows[r];
    batch.stored[r] = block_->Stored(row);
    if (batch.stored[r] != nullptr) continue;
    std::int32_t slot = slot_of_row_[row];
    if (slot == kNone) {
      slot = TakeSlot(may_evict);
      if (slot != kNone) {
        slot_of_row_[row] = slot;
        row_of_slot_[slot] = row;
        was_used_[slot] = 2;
        is_filled_[row] = 0;
      }
    }
    if (slot != kNone) batch.places[r] = Slot(slot);
    if (slot == kNone || !is_filled_[row]) {
      batch.missing.push_back(r);
      batch.missing_rows.push_back(row);
    }
  }
  block_->GatherLeft(batch.missing_rows, batch.missing_left);
  if (!block_->traits().is_view)
    values_computed_ += static_cast<std::int64_t>(batch.missing.size()) * right_count_;
  return batch;
}

template <class T>
std::vector<typename BaseRows<T>::Batch> BaseRows<T>::PrepareAll(std::span<const Index> rows,
                                                                 std::size_t rows_each, bool may_evict) {
  std::vector<Batch> batches;
  for (std::size_t first = 0; first < rows.size(); first += rows_each) {
    batches.push_back(Prepare(rows.subspan(first, std::min(rows_each, rows.size() - first)), may_evict));
  }
  return batches;
}

template <class T>
void BaseRows<T>::Read(const Batch& batch, Index begin, Index end, T* scratch,
                       std::vector<const T*>& pointers) const {
  pointers.resize(batch.rows.size());
  for (std::size_t r = 0; r < batch.rows.size(); ++r) {
    const T* const place = batch.stored[r] != nullptr ? batch.stored[r] : batch.places[r];
    pointers[r] = place != nullptr ? place + begin : nullptr;
  }
  if (batch.missing.empty()) return;
  const Index width = end - begin;
  // Rows whose places follow each other are computed there.
  const bool is_in_place = HasPlacesInOrder(batch);
  T* const target = is_in_place ? batch.places[batch.missing[0]] + begin : scratch;
  const Index stride = is_in_place ? right_count_ : width;
  block_->Compute(batch.missing_rows, batch.missing_left, begin, end, target, stride);
  for (std::size_t k = 0; k < batch.missing.size(); ++k) {
    const std::size_t r = batch.missing[k];
    T* const row = target + static_cast<Index>(k) * stride;
    if (is_mapped_ && !block_->traits().is_mapped) MapToVariable<T>(variable_, width, row);
    if (is_in_place) continue;
    if (batch.places[r] != nullptr) {
      std::copy_n(row, width, batch.places[r] + begin);
    } else {
      pointers[r] = row;
    }
  }
}

template <class T>
bool BaseRows<T>::HasPlacesInOrder(const Batch& batch) const {
  const T* const first = batch.places[batch.missing[0]];
  if (first == nullptr) return false;
  for (std::size_t k = 1; k < batch.missing.size(); ++k) {
    if (batch.places[batch.missing[k]] != first + static_cast<Index>(k) * right_count_) return false;
  }
  return true;
}

template <class T>
void BaseRows<T>::Commit(const Batch& batch) {
  for (std::size_t r = 0; r < batch.rows.size(); ++r) {
    const Index row = batch.rows[r];
    if (batch.places[r] == nullptr) continue;
    is_filled_[row] = 1;
    was_used_[slot_of_row_[row]] = 1;
  }
  block_->Release(batch.missing_rows);
}

template class BaseRows<float>;
template class BaseRows<double>;

}  // namespace kweave
