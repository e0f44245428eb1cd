#ifndef KWEAVE_GRAM_PANEL_H_
#define KWEAVE_GRAM_PANEL_H_

#include <span>
#include <vector>

#include "base/memory.h"
#include "compute/cpu/packed_product.h"
#include "kernel/kernel_set.h"
#include "kweave/dataset.h"

namespace kweave {

/// The columns of one view that some kernels work on, in the precision and the order of matrix products.
template <class T>
struct Panel {
  PackedSamples<T> samples;
  std::vector<T> squared_norms;
};

/// Copies the columns in `subset` (empty: all), less `center` (empty: nothing; one value per copied column).
template <class T>
Panel<T> PackSamples(const Features& features, const FeatureSubset& subset, std::span<const double> center);

/// The same values feature after feature: value (i, f) is at [f * rows + i].
template <class T>
AlignedVector<T> PackFeatures(const Features& features, const FeatureSubset& subset,
                              std::span<const double> center);

/// How many columns `subset` picks of `features`.
Index SubsetSize(const Features& features, const FeatureSubset& subset);

/// What to take off every picked column so that differences of its values keep their digits: about its
/// median, which no single huge value moves, where that is large beside the spread of the column; else 0,
/// which costs no digit.
std::vector<double> ColumnCenters(const Features& features, const FeatureSubset& subset);

/// The smallest and largest value of every picked column.
struct ColumnRange {
  std::vector<double> low;
  std::vector<double> high;
};
ColumnRange ColumnRanges(const Features& features, const FeatureSubset& subset);

}  // namespace kweave

#endif  // KWEAVE_GRAM_PANEL_H_
