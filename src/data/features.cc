#include <algorithm>
#include <type_traits>
#include <utility>

#include "data/sequences.h"
#include "kweave/dataset.h"

namespace kweave {

Index RowCount(const Features& features) {
  return std::visit([](const auto& f) { return f.rows; }, features);
}

Index ColumnCount(const Features& features) {
  return std::visit([](const auto& f) { return f.cols; }, features);
}

Features MakeDense(std::vector<double> values, Index rows, Index cols) {
  auto owner = std::make_shared<std::vector<double>>(std::move(values));
  return DenseRows<double>{owner->data(), rows, cols, cols, owner};
}

namespace {

template <class T>
Features SelectDense(const DenseRows<T>& source, std::span<const Index> indices) {
  auto owner = std::make_shared<std::vector<T>>(indices.size() * source.cols);
  for (std::size_t r = 0; r < indices.size(); ++r) {
    if (indices[r] >= 0) std::ranges::copy(source.row(indices[r]), owner->begin() + r * source.cols);
  }
  const Index rows = static_cast<Index>(indices.size());
  return DenseRows<T>{owner->data(), rows, source.cols, source.cols, owner};
}

struct SparseStorage {
  std::vector<Index> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

Features SelectSparse(const SparseRows& source, std::span<const Index> indices) {
  auto owner = std::make_shared<SparseStorage>();
  for (Index i : indices) {
    const Index begin = i < 0 ? 0 : source.offsets[i], end = i < 0 ? 0 : source.offsets[i + 1];
    owner->columns.insert(owner->columns.end(), source.columns + begin, source.columns + end);
    owner->values.insert(owner->values.end(), source.values + begin, source.values + end);
    owner->offsets.push_back(static_cast<Index>(owner->columns.size()));
  }
  return SparseRows{owner->offsets.data(), owner->columns.data(),
                    owner->values.data(),  static_cast<Index>(indices.size()),
                    source.cols,           owner};
}

}  // namespace

Features SelectRows(const Features& features, std::span<const Index> indices) {
  return std::visit(
      [&](const auto& f) {
        if constexpr (std::is_same_v<std::decay_t<decltype(f)>, SparseRows>) {
          return SelectSparse(f, indices);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(f)>, SequenceRows>) {
          std::vector<Index> known(indices.begin(), indices.end());
          std::ranges::replace(known, Index{-1}, Index{0});
          return Features(SelectSequences(f, known));
        } else {
          return SelectDense(f, indices);
        }
      },
      features);
}

Index View::MissingCount() const { return std::ranges::count(presence, 0.0); }

View SelectSamples(const View& view, std::span<const Index> indices) {
  View selected{view.name, SelectRows(view.features, indices), view.feature_names};
  if (view.presence.empty()) return selected;
  for (const Index i : indices) selected.presence.push_back(view.presence[static_cast<std::size_t>(i)]);
  return selected;
}

void CopyRow(const Features& features, Index i, std::span<double> out) {
  std::visit(
      [&](const auto& f) {
        if constexpr (std::is_same_v<std::decay_t<decltype(f)>, SparseRows>) {
          std::ranges::fill(out, 0.0);
          for (Index e = f.offsets[i]; e < f.offsets[i + 1]; ++e) out[f.columns[e]] = f.values[e];
        } else if constexpr (std::is_same_v<std::decay_t<decltype(f)>, SequenceRows>) {
          CopySequence(f, i, out);
        } else {
          std::ranges::copy(f.row(i), out.begin());
        }
      },
      features);
}

}  // namespace kweave
