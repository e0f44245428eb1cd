#include "qp/block_rows.h"

#include <algorithm>

#include "base/constants.h"
#include "compute/cpu/smo_loops.h"
#include "qp/row_store.h"

namespace kweave {

namespace {

template <class T>
Index AffordableRows(std::size_t bytes, Index size) {
  const std::size_t row_bytes = std::max<std::size_t>(static_cast<std::size_t>(size) * sizeof(T), 1);
  return static_cast<Index>(std::min(bytes / row_bytes, static_cast<std::size_t>(size)));
}

// Once the cache is full, rows are computed so many at a time and copied to the places that became free.
Index BatchRows(Index affordable) {
  return std::clamp<Index>(affordable / kLeastBatchesInCache, 1, kRowsPerCall);
}

Index KeptRows(Index affordable, Index size, Index least) {
  if (affordable == size) return size;
  return std::max(affordable - BatchRows(affordable), std::min(size, least));
}

}  // namespace

template <class T>
BlockRows<T>::BlockRows(RowSource<T>& source, const SolverOptions& options, Index least)
    : source_(source),
      pool_(options.pool),
      batch_(BatchRows(AffordableRows<T>(options.cache_bytes, source.size()))),
      cache_(source.size(), source.size(),
             KeptRows(AffordableRows<T>(options.cache_bytes, source.size()), source.size(), least),
             options.reserve) {}

template <class T>
std::span<const T* const> BlockRows<T>::Fetch(std::span<const Index> samples) {
  absent_.clear();
  // Asking for a row also keeps it from giving way to a new one.
  for (const Index sample : samples) {
    if (cache_.Find(sample) == nullptr) absent_.push_back(sample);
  }
  if (!absent_.empty()) Compute(absent_);
  rows_.clear();
  for (const Index sample : samples) rows_.push_back(cache_.Find(sample));
  return rows_;
}

template <class T>
void BlockRows<T>::Compute(std::span<const Index> samples) {
  const auto count = static_cast<Index>(samples.size());
  rows_computed_ += count;
  if (T* slots = cache_.NextSlots(count)) {
    source_.Rows(samples, slots, cache_.stride());
    for (const Index sample : samples) cache_.Insert(sample);
    CheckFinite(samples);
    return;
  }
  scratch_.resize(static_cast<std::size_t>(batch_ * cache_.stride()));
  for (Index begin = 0; begin < count; begin += batch_) {
    const Index size = std::min(batch_, count - begin);
    const auto batch = samples.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size));
    source_.Rows(batch, scratch_.data(), cache_.stride());
    places_.clear();
    for (const Index sample : batch) places_.push_back(cache_.Insert(sample));
    ForPieces(pool_, size, 4, [&](Index first, Index last) {
      for (Index r = first; r < last; ++r) {
        std::copy_n(scratch_.data() + r * cache_.stride(), source_.size(),
                    places_[static_cast<std::size_t>(r)]);
      }
    });
    CheckFinite(batch);
  }
}

template <class T>
void BlockRows<T>::CheckFinite(std::span<const Index> samples) {
  std::vector<char> is_finite(samples.size());
  std::vector<const T*> rows;
  for (const Index sample : samples) rows.push_back(cache_.Find(sample));
  ForPieces(pool_, static_cast<Index>(samples.size()), 4, [&](Index first, Index last) {
    for (Index r = first; r < last; ++r) {
      is_finite[static_cast<std::size_t>(r)] = AllFinite(rows[static_cast<std::size_t>(r)], source_.size());
    }
  });
  is_finite_ = is_finite_ && std::find(is_finite.begin(), is_finite.end(), 0) == is_finite.end();
}

template class BlockRows<float>;
template class BlockRows<double>;

}  // namespace kweave
