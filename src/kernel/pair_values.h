#ifndef KWEAVE_KERNEL_PAIR_VALUES_H_
#define KWEAVE_KERNEL_PAIR_VALUES_H_

#include <span>
#include <vector>

#include "kernel/base_quantity.h"
#include "kernel/kernel_set.h"
#include "kweave/dataset.h"

namespace kweave {

/// quantity(x_i, x_j) at `parameter` for all pairs i < j of `rows`, on the columns in `subset` (empty: all).
/// What overflows is infinity, never NaN.
std::vector<double> PairValues(const BaseQuantity& base, double parameter, const Features& features,
                               std::span<const Index> rows, const FeatureSubset& subset);

/// One column of the rows, zeros filled in.
std::vector<double> ColumnValues(const Features& features, std::span<const Index> rows, Index column);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_PAIR_VALUES_H_
