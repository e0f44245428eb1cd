#include "qp/row_store.h"

#include <algorithm>
#include <cmath>

#include "compute/cpu/smo_loops.h"

namespace kweave {

namespace {

// A row in a batch costs a small part of a row alone, so companions pay off when one in this many is used.
constexpr double kWorthwhileCompanions = 6;
// Share of the cache that the active columns may take when not everything fits.
constexpr std::size_t kActiveShare = 4;

template <class T>
std::size_t RowBytes(Index length) {
  return static_cast<std::size_t>(length) * sizeof(T);
}

Index RowsThatFit(std::size_t bytes, std::size_t row_bytes, Index most) {
  const auto rows = static_cast<Index>(
      std::min<std::size_t>(bytes / std::max<std::size_t>(row_bytes, 1), static_cast<std::size_t>(most)));
  return std::max(rows, std::min<Index>(most, 2));
}

// All rows when they fit beside the rows of active columns; else what is left beside a scratch batch, too.
template <class T>
Index FullRows(Index size, const SolverOptions& options) {
  const std::size_t active_bytes = options.use_shrinking ? options.cache_bytes / kActiveShare : 0;
  const std::size_t bytes = options.cache_bytes - active_bytes;
  const Index rows = RowsThatFit(bytes, RowBytes<T>(size), size);
  if (rows == size) return rows;
  const Index batch = std::min(options.rows_per_batch, rows / kLeastBatchesInCache);
  return RowsThatFit(bytes - static_cast<std::size_t>(batch) * RowBytes<T>(size), RowBytes<T>(size), size);
}

}  // namespace

template <class T>
RowStore<T>::RowStore(RowSource<T>& source, const SolverOptions& options, ChooseCompanions choose)
    : source_(source),
      choose_(std::move(choose)),
      size_(source.size()),
      cache_bytes_(options.cache_bytes),
      most_per_batch_(options.rows_per_batch),
      full_(size_, size_, FullRows<T>(size_, options), options.reserve),
      is_untried_(static_cast<std::size_t>(size_), 0) {
  if (full_.capacity() < size_) {
    most_per_batch_ = std::clamp<Index>(full_.capacity() / kLeastBatchesInCache, 1, most_per_batch_);
  }
}

template <class T>
const T* RowStore<T>::ActiveRow(Index position) {
  if (!active_) return FullRow(position);
  if (const T* row = active_->Find(position)) return row;
  const T* full = FullRow(active_samples_[static_cast<std::size_t>(position)]);
  T* row = active_->Insert(position);
  for (std::size_t k = 0; k < active_samples_.size(); ++k) row[k] = full[active_samples_[k]];
  return row;
}

template <class T>
const T* RowStore<T>::FullRow(Index sample) {
  if (!full_.Contains(sample)) Fetch(sample);
  auto& is_untried = is_untried_[static_cast<std::size_t>(sample)];
  companions_used_ += is_untried;
  is_untried = 0;
  return full_.Find(sample);
}

template <class T>
void RowStore<T>::Fetch(Index sample) {
  batch_.assign(1, sample);
  const Index companions = BatchSize() - 1;
  if (companions > 0) choose_(sample, companions, batch_);
  for (const Index row : batch_) is_untried_[static_cast<std::size_t>(row)] = row != sample;
  const Index count = static_cast<Index>(batch_.size());
  companions_computed_ += static_cast<double>(count - 1);

  T* slots = full_.NextSlots(count);
  const bool is_in_place = slots != nullptr;
  if (!is_in_place) {
    scratch_.resize(static_cast<std::size_t>(most_per_batch_ * full_.stride()));
    slots = scratch_.data();
  }
  Compute(batch_, slots);
  for (Index r = 0; r < count; ++r) {
    T* slot = full_.Insert(batch_[static_cast<std::size_t>(r)]);
    if (!is_in_place) std::copy_n(slots + r * full_.stride(), size_, slot);
  }
}

// As many as pay off by the share of recent companions that were used; never so few that it cannot recover.
template <class T>
Index RowStore<T>::BatchSize() {
  constexpr double kFade =
      0.9;  // some ten batches count; 0.45 and 0.99 take as long (14,000 of Adult, 300 MB)
  companions_computed_ *= kFade;
  companions_used_ *= kFade;
  const double used = (companions_used_ + 1) / (companions_computed_ + 1);
  const double share = std::min(1.0, used * kWorthwhileCompanions);
  const auto rows = static_cast<Index>(std::ceil(share * static_cast<double>(most_per_batch_)));
  return std::clamp(rows, std::min<Index>(2, most_per_batch_), most_per_batch_);
}

template <class T>
void RowStore<T>::Compute(std::span<const Index> samples, T* out) {
  source_.Rows(samples, out, full_.stride());
  rows_computed_ += static_cast<std::int64_t>(samples.size());
  for (std::size_t r = 0; r < samples.size(); ++r) {
    is_finite_ = is_finite_ && AllFinite(out + static_cast<Index>(r) * full_.stride(), size_);
  }
}

template <class T>
void RowStore<T>::ForEachRow(std::span<const Index> samples,
                             const std::function<void(Index, const T*)>& use) {
  std::vector<Index> absent;
  for (const Index sample : samples) {
    if (full_.Contains(sample)) {
      use(sample, full_.Find(sample));
    } else {
      absent.push_back(sample);
    }
  }
  if (absent.empty()) return;
  scratch_.resize(static_cast<std::size_t>(most_per_batch_ * full_.stride()));
  const auto most = static_cast<std::size_t>(most_per_batch_);
  for (std::size_t begin = 0; begin < absent.size(); begin += most) {
    const auto batch = std::span<const Index>(absent).subspan(begin, std::min(most, absent.size() - begin));
    Compute(batch, scratch_.data());
    for (std::size_t r = 0; r < batch.size(); ++r) {
      use(batch[r], scratch_.data() + static_cast<Index>(r) * full_.stride());
    }
  }
}

template <class T>
void RowStore<T>::SetActive(std::vector<std::int32_t> samples) {
  active_samples_ = std::move(samples);
  active_.reset();
  const auto count = static_cast<Index>(active_samples_.size());
  if (count == 0) return;
  active_.emplace(count, count, RowsThatFit(cache_bytes_ / kActiveShare, RowBytes<T>(count), count));
}

template <class T>
void RowStore<T>::Clear() {
  full_.Clear();
  active_.reset();
  active_samples_.clear();
  std::fill(is_untried_.begin(), is_untried_.end(), std::uint8_t{0});
}

template class RowStore<float>;
template class RowStore<double>;

}  // namespace kweave
