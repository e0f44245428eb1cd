#include "gram/panel.h"

#include <algorithm>
#include <cmath>

#include "base/constants.h"

namespace kweave {
namespace {

// The columns in `subset` of row i.
template <class T>
void PickColumns(const DenseRows<T>& rows, Index i, const FeatureSubset& subset, std::span<double> out) {
  const std::span<const T> row = rows.row(i);
  for (std::size_t f = 0; f < subset.size(); ++f) out[f] = row[subset[f]];
}
void PickColumns(const SparseRows& rows, Index i, const FeatureSubset& subset, std::span<double> out) {
  const std::span<const std::int32_t> columns(rows.columns + rows.offsets[i],
                                              rows.columns + rows.offsets[i + 1]);
  for (std::size_t f = 0; f < subset.size(); ++f) {
    const auto place = std::ranges::lower_bound(columns, subset[f]);
    const bool is_there = place != columns.end() && *place == subset[f];
    out[f] = is_there ? rows.values[rows.offsets[i] + (place - columns.begin())] : 0;
  }
}

void PickColumns(const SequenceRows&, Index, const FeatureSubset&, std::span<double>) {}  // has no numbers

// Calls use(i, values) for every row, `values` being the picked columns in double.
template <class Use>
void ForPickedRows(const Features& features, const FeatureSubset& subset, Use use) {
  std::vector<double> values(subset.empty() ? ColumnCount(features) : static_cast<Index>(subset.size()));
  for (Index i = 0; i < RowCount(features); ++i) {
    if (subset.empty()) {
      CopyRow(features, i, values);
    } else {
      std::visit([&](const auto& rows) { PickColumns(rows, i, subset, values); }, features);
    }
    use(i, std::span<const double>(values));
  }
}

}  // namespace

Index SubsetSize(const Features& features, const FeatureSubset& subset) {
  return subset.empty() ? ColumnCount(features) : static_cast<Index>(subset.size());
}

template <class T>
Panel<T> PackSamples(const Features& features, const FeatureSubset& subset, std::span<const double> center) {
  const Index rows = RowCount(features), cols = SubsetSize(features, subset);
  Panel<T> panel{PackedSamples<T>(rows, cols), std::vector<T>(rows)};
  ForPickedRows(features, subset, [&](Index i, std::span<const double> values) {
    double squared_norm = 0;
    for (Index f = 0; f < cols; ++f) {
      const T value = static_cast<T>(center.empty() ? values[f] : values[f] - center[f]);
      panel.samples.at(i, f) = value;
      squared_norm += static_cast<double>(value) * static_cast<double>(value);
    }
    panel.squared_norms[i] = static_cast<T>(squared_norm);
  });
  return panel;
}

template <class T>
AlignedVector<T> PackFeatures(const Features& features, const FeatureSubset& subset,
                              std::span<const double> center) {
  const Index rows = RowCount(features);
  AlignedVector<T> packed(rows * SubsetSize(features, subset));
  ForPickedRows(features, subset, [&](Index i, std::span<const double> values) {
    for (std::size_t f = 0; f < values.size(); ++f)
      packed[f * rows + i] = static_cast<T>(center.empty() ? values[f] : values[f] - center[f]);
  });
  return packed;
}

std::vector<double> ColumnCenters(const Features& features, const FeatureSubset& subset) {
  constexpr Index kSampled = 101;  // rows: enough that the median of these lies among the middle half of all
  const Index rows = RowCount(features), cols = SubsetSize(features, subset);
  std::vector<double> centers(cols, 0.0);
  const Index sampled = std::min(rows, kSampled);
  if (sampled == 0) return centers;
  std::vector<Index> picked(sampled);
  for (Index s = 0; s < sampled; ++s) picked[s] = s * rows / sampled;
  const Features sample = SelectRows(features, picked);
  std::vector<double> columns(cols * sampled);
  ForPickedRows(sample, subset, [&](Index i, std::span<const double> values) {
    for (Index f = 0; f < cols; ++f) columns[f * sampled + i] = values[f];
  });
  for (Index f = 0; f < cols; ++f) {
    const std::span<double> column = std::span(columns).subspan(f * sampled, sampled);
    std::ranges::sort(column);
    const double median = column[sampled / 2];
    const double spread = column[sampled - 1 - sampled / 4] - column[sampled / 4];
    if (std::abs(median) > spread) centers[f] = median;
  }
  return centers;
}

ColumnRange ColumnRanges(const Features& features, const FeatureSubset& subset) {
  const Index cols = SubsetSize(features, subset);
  ColumnRange range{std::vector<double>(cols, kInfinity), std::vector<double>(cols, -kInfinity)};
  ForPickedRows(features, subset, [&](Index, std::span<const double> values) {
    for (std::size_t f = 0; f < values.size(); ++f) {
      range.low[f] = std::min(range.low[f], values[f]);
      range.high[f] = std::max(range.high[f], values[f]);
    }
  });
  return range;
}

template Panel<float> PackSamples<float>(const Features&, const FeatureSubset&, std::span<const double>);
template Panel<double> PackSamples<double>(const Features&, const FeatureSubset&, std::span<const double>);
template AlignedVector<float> PackFeatures<float>(const Features&, const FeatureSubset&,
                                                  std::span<const double>);
template AlignedVector<double> PackFeatures<double>(const Features&, const FeatureSubset&,
                                                    std::span<const double>);

}  // namespace kweave
