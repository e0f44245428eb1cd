// Data-driven widths: parameters that follow from a statistic of a base quantity over pairs of training
// samples.
#ifndef KWEAVE_KERNEL_WIDTHS_H_
#define KWEAVE_KERNEL_WIDTHS_H_

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "kernel/kernel_spec.h"
#include "kweave/dataset.h"

namespace kweave {

/// Solves: s = mean or quantile (linear between order statistics) of quantity(x_i, x_j) over pairs i < j.
/// Method: all pairs of up to kMaxRows rows, above that of a seeded sample of so many. Dense features go
///   through rank-k updates or SIMD rows, sparse ones through their nonzeros. On a single feature the
///   quantiles of a distance follow from the sorted values by bisection, without the pairs.
/// Takes and returns: views must outlive it. Without a usable statistic (constant data, a single sample,
///   overflow) a width is what `auto` makes it.
/// Holds: results depend on data and seed only; each is computed once.
/// Costs: rows^2/2 values of memory, rows^2 d/2 operations; rows log rows for a single feature.
class Widths {
 public:
  /// A quantile over the pairs of so many rows is within about 1 / sqrt(rows), 2 %, of that over all: no
  /// model notices.
  static constexpr Index kMaxRows = 2000;

  Widths(std::span<const View> views, std::uint64_t seed);

  /// The parameter number `parameter` of `kind` that `value` stands for, for kernels on the features `subset`
  /// of view `view` whose parameters that do not follow from the data are `known`.
  double Value(const SpecValue& value, const KernelKind& kind, std::size_t parameter,
               const KernelParameters& known, std::int32_t view, std::int32_t subset_index,
               const FeatureSubset& subset);

 private:
  /// The quantity, its parameter, the view and the number of the subset.
  using PlaceKey = std::tuple<const BaseQuantity*, double, std::int32_t, std::int32_t>;

  double Statistic(const SpecValue& value, const PlaceKey& place, const FeatureSubset& subset);

  std::span<const View> views_;
  std::vector<std::vector<Index>> rows_;  ///< by view, the sample of rows that have it, ascending
  std::map<std::tuple<PlaceKey, WidthRule, double>, double> statistics_;
  PlaceKey pairs_place_{nullptr, 0, 0, 0};  ///< what pair_values_ belongs to
  std::vector<double> pair_values_;
};

}  // namespace kweave

#endif  // KWEAVE_KERNEL_WIDTHS_H_
