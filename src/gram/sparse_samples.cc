#include "gram/sparse_samples.h"

#include <algorithm>

namespace kweave {
namespace {

Index EntryCount(const SparseRows& rows) { return rows.offsets[rows.rows] - rows.offsets[0]; }

}  // namespace

OccurringColumns::OccurringColumns(const SparseRows& rows)
    : columns_(rows.columns + rows.offsets[0], rows.columns + rows.offsets[rows.rows]) {
  std::ranges::sort(columns_);
  columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
  columns_.shrink_to_fit();
}

Index OccurringColumns::NumberOf(std::int32_t column) const {
  const auto place = std::ranges::lower_bound(columns_, column);
  return place != columns_.end() && *place == column ? place - columns_.begin() : -1;
}

template <class T>
SparseSamples<T>::SparseSamples(const SparseRows& rows, const OccurringColumns& columns) {
  const Index entries = EntryCount(rows);
  offsets_.reserve(rows.rows + 1);
  columns_.reserve(entries);
  values_.reserve(entries);
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index e = rows.offsets[i]; e < rows.offsets[i + 1]; ++e) {
      const Index number = columns.NumberOf(rows.columns[e]);
      if (number < 0) continue;
      columns_.push_back(static_cast<std::int32_t>(number));
      values_.push_back(static_cast<T>(rows.values[e]));
    }
    offsets_.push_back(static_cast<Index>(columns_.size()));
  }
}

template <class T>
void SparseSamples<T>::Products(const SparseSamples& left, std::span<const Index> rows,
                                std::span<const T> weights, Index column_count, Index begin, Index end,
                                T* out, Index stride) const {
  // Sixteen left rows are spread out side by side, then every right row is read once. All zeros between
  // calls.
  constexpr Index kLanes = 16;
  thread_local AlignedVector<T> spread;
  spread.resize(std::max<std::size_t>(spread.size(), column_count * kLanes));
  for (std::size_t first = 0; first < rows.size(); first += kLanes) {
    const auto some = rows.subspan(first, std::min<std::size_t>(kLanes, rows.size() - first));
    for (std::size_t r = 0; r < some.size(); ++r) {
      left.ForEntries(some[r], [&](Index column, T value) {
        spread[column * kLanes + r] = weights.empty() ? value : weights[column] * value;
      });
    }
    SparseDots<T>(offsets_.data(), columns_.data(), values_.data(), begin, end, spread.data(),
                  out + first * stride, stride, static_cast<Index>(some.size()));
    for (std::size_t r = 0; r < some.size(); ++r) {
      left.ForEntries(some[r], [&](Index column, T) { spread[column * kLanes + r] = T{0}; });
    }
  }
}

template <class T>
SparseSides<T>::SparseSides(const View& left, const View& right, bool is_training)
    : columns_(std::get<SparseRows>(left.features)), left_(std::get<SparseRows>(left.features), columns_) {
  if (!is_training) own_right_.emplace(std::get<SparseRows>(right.features), columns_);
}

std::size_t SparseSampleBytes(const SparseRows& rows, std::size_t value_bytes) {
  const std::size_t of_entry = value_bytes + sizeof(std::int32_t);
  const std::size_t of_column = sizeof(std::int32_t);  // no more columns occur than there are entries
  return EntryCount(rows) * (of_entry + of_column) + (rows.rows + 1) * sizeof(Index);
}

template class SparseSamples<float>;
template class SparseSamples<double>;
template class SparseSides<float>;
template class SparseSides<double>;

}  // namespace kweave
