#include "kernel/widths.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "kernel/pair_values.h"

namespace kweave {
namespace {

/// `wanted` of the numbers below `count`, each set equally likely, ascending (Knuth's selection sampling).
std::vector<Index> SampleRows(Index count, Index wanted, std::uint64_t seed) {
  Random random(seed);
  std::vector<Index> rows;
  for (Index i = 0; i < count && wanted > 0; ++i) {
    if (random.Uniform() * static_cast<double>(count - i) >= static_cast<double>(wanted)) continue;
    rows.push_back(i);
    --wanted;
  }
  return rows;
}

/// The same of the samples that have the view.
std::vector<Index> SampleRows(const View& view, Index wanted, std::uint64_t seed) {
  std::vector<Index> present;
  for (Index i = 0; i < RowCount(view.features); ++i) {
    if (view.Has(i)) present.push_back(i);
  }
  const auto count = static_cast<Index>(present.size());
  std::vector<Index> rows = SampleRows(count, std::min(count, wanted), seed);
  for (Index& row : rows) row = present[static_cast<std::size_t>(row)];
  return rows;
}

/// The value at position `rank` (from 0) among all |x_i - x_j|, i < j, x ascending: bisection over the bits
/// of the answer, which order like the numbers they stand for, counting by a sliding window.
double DifferenceOfRank(std::span<const double> x, Index rank) {
  std::uint64_t low = 0, high = std::bit_cast<std::uint64_t>(std::abs(x.back() - x.front()));
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const double bound = std::bit_cast<double>(middle);
    Index pairs = 0;
    for (std::size_t i = 0, j = 0; j < x.size(); ++j) {
      while (x[j] - x[i] > bound) ++i;
      pairs += static_cast<Index>(j - i);
    }
    if (pairs > rank) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::bit_cast<double>(low);
}

/// Linear between the two order statistics around q (count - 1), as most statistics packages do.
template <class OrderStatistic>
double Interpolate(double quantile, Index count, const OrderStatistic& order_statistic) {
  const double at = quantile * static_cast<double>(count - 1);
  const Index rank = static_cast<Index>(at);
  const double below = order_statistic(rank);
  if (at == std::floor(at)) return below;
  return std::lerp(below, order_statistic(rank + 1), at - std::floor(at));
}

}  // namespace

Widths::Widths(std::span<const View> views, std::uint64_t seed) : views_(views) {
  for (const View& view : views) {
    const bool is_as_first = &view != &views.front() && view.presence.empty() && views[0].presence.empty();
    rows_.push_back(is_as_first ? rows_[0] : SampleRows(view, kMaxRows, seed));
  }
}

double Widths::Value(const SpecValue& value, const KernelKind& kind, std::size_t parameter,
                     const KernelParameters& known, std::int32_t view, std::int32_t subset_index,
                     const FeatureSubset& subset) {
  const ParameterRule& rule = kind.parameters[parameter];
  const auto width_of = [&](double statistic) {
    return rule.width == ParameterRule::Width::kInverse ? value.number / statistic
                                                        : value.number * std::sqrt(statistic);
  };
  const Index columns =
      subset.empty() ? ColumnCount(views_[view].features) : static_cast<Index>(subset.size());
  const double fallback = width_of(static_cast<double>(std::max<Index>(1, columns)));
  if (value.rule == WidthRule::kAuto || rows_[view].size() < 2) return fallback;
  const PlaceKey place{rule.width_of, rule.width_of == kind.base ? kind.BaseParameter(known) : 0, view,
                       subset_index};
  const auto [entry, is_new] = statistics_.try_emplace({place, value.rule, value.quantile});
  if (is_new) entry->second = Statistic(value, place, subset);
  const double width = width_of(entry->second);
  return std::isfinite(width) && width > 0 ? width : fallback;
}

double Widths::Statistic(const SpecValue& value, const PlaceKey& place, const FeatureSubset& subset) {
  // Not by a structured binding, whose names lambdas could not use in clang before 16.
  const BaseQuantity* const base = std::get<0>(place);
  const double parameter = std::get<1>(place);
  const std::int32_t view = std::get<2>(place);
  const std::vector<Index>& rows = rows_[view];
  const Index n = static_cast<Index>(rows.size()), count = n * (n - 1) / 2;
  const Features& features = views_[view].features;
  // On one feature such a quantity is a function of the difference alone, and keeps its order.
  if (value.rule == WidthRule::kQuantile && base->is_translation_invariant && base->grows_with_difference &&
      subset.size() == 1) {
    std::vector<double> column = ColumnValues(features, rows, subset[0]);
    std::ranges::sort(column);
    if (!std::isfinite(column.back() - column.front())) return 0;
    return Interpolate(value.quantile, count, [&](Index rank) {
      const double difference = DifferenceOfRank(column, rank), zero = 0;
      return base->plain({&difference, 1}, {&zero, 1}, parameter);
    });
  }
  if (pairs_place_ != place) {
    pair_values_ = PairValues(*base, parameter, features, rows, subset);
    pairs_place_ = place;
  }
  if (value.rule == WidthRule::kMean) {
    return std::accumulate(pair_values_.begin(), pair_values_.end(), 0.0) / static_cast<double>(count);
  }
  return Interpolate(value.quantile, count, [&](Index rank) {
    std::ranges::nth_element(pair_values_, pair_values_.begin() + rank);
    return pair_values_[rank];
  });
}

}  // namespace kweave
