#include "gram/panel.h"

#include <algorithm>
#include <limits>

namespace kweave {
namespace {

// Calls use(i, values) for every row, `values` being the picked columns in double.
template <class Use>
void ForPickedRows(const Features& features, const FeatureSubset& subset, Use use) {
  std::vector<double> row(ColumnCount(features)), picked(subset.size());
  for (Index i = 0; i < RowCount(features); ++i) {
    CopyRow(features, i, row);
    if (subset.empty()) {
      use(i, std::span<const double>(row));
    } else {
      for (std::size_t f = 0; f < subset.size(); ++f) picked[f] = row[subset[f]];
      use(i, std::span<const double>(picked));
    }
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
AlignedVector<T> PackFeatures(const Features& features, const FeatureSubset& subset) {
  const Index rows = RowCount(features);
  AlignedVector<T> packed(rows * SubsetSize(features, subset));
  ForPickedRows(features, subset, [&](Index i, std::span<const double> values) {
    for (std::size_t f = 0; f < values.size(); ++f) packed[f * rows + i] = static_cast<T>(values[f]);
  });
  return packed;
}

std::vector<double> ColumnMeans(const Features& features, const FeatureSubset& subset) {
  std::vector<double> means(SubsetSize(features, subset), 0.0);
  ForPickedRows(features, subset, [&](Index, std::span<const double> values) {
    for (std::size_t f = 0; f < values.size(); ++f) means[f] += values[f];
  });
  const double count = static_cast<double>(std::max<Index>(RowCount(features), 1));
  for (double& mean : means) mean /= count;
  return means;
}

ColumnRange ColumnRanges(const Features& features, const FeatureSubset& subset) {
  const Index cols = SubsetSize(features, subset);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
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
template AlignedVector<float> PackFeatures<float>(const Features&, const FeatureSubset&);
template AlignedVector<double> PackFeatures<double>(const Features&, const FeatureSubset&);

}  // namespace kweave
