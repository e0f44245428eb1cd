#include "kernel/widths.h"

#include <cblas.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "kernel/kernel_table.h"
#include "kernel/pair_values.h"

namespace kweave {
namespace {

struct Rows {
  std::vector<double> values;
  Index rows, cols;
};

Rows MakeRows(Index rows, Index cols, double density, std::uint64_t seed, double shift = 0) {
  Random random(seed);
  Rows result{std::vector<double>(rows * cols), rows, cols};
  for (double& value : result.values) value = random.Uniform() < density ? shift + random.Uniform() : 0;
  return result;
}

Features AsSparse(const Rows& source) {
  struct Storage {
    std::vector<Index> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;
  };
  auto owner = std::make_shared<Storage>();
  for (Index i = 0; i < source.rows; ++i) {
    for (Index f = 0; f < source.cols; ++f) {
      const double value = source.values[i * source.cols + f];
      if (value == 0) continue;
      owner->columns.push_back(static_cast<std::int32_t>(f));
      owner->values.push_back(value);
    }
    owner->offsets.push_back(static_cast<Index>(owner->values.size()));
  }
  return SparseRows{owner->offsets.data(), owner->columns.data(), owner->values.data(),
                    source.rows,           source.cols,           owner};
}

/// The place of the parameter that follows from the data; behind the last one: there is none.
std::size_t WidthPlace(const KernelKind& kind) {
  std::size_t place = 0;
  while (place < kind.parameters.size() && kind.parameters[place].width == ParameterRule::Width::kNone)
    ++place;
  return place;
}

template <class AnyWidths>
double ValueOf(AnyWidths&& widths, const SpecValue& value, const KernelKind& kind, std::int32_t subset_index,
               const FeatureSubset& subset) {
  return widths.Value(value, kind, WidthPlace(kind), PlainDefaults(kind), 0, subset_index, subset);
}

double PlainStatistic(const Rows& source, const KernelKind& kind, const FeatureSubset& subset,
                      const SpecValue& value) {
  const ParameterRule& rule = kind.parameters[WidthPlace(kind)];
  FeatureSubset columns = subset;
  for (Index f = 0; subset.empty() && f < source.cols; ++f) columns.push_back(static_cast<std::int32_t>(f));
  std::vector<double> pairs, x(columns.size()), z(columns.size());
  for (Index i = 0; i < source.rows; ++i) {
    for (Index j = i + 1; j < source.rows; ++j) {
      for (std::size_t f = 0; f < columns.size(); ++f) {
        x[f] = source.values[i * source.cols + columns[f]];
        z[f] = source.values[j * source.cols + columns[f]];
      }
      pairs.push_back(rule.width_of->plain(x, z, kind.BaseParameter(PlainDefaults(kind))));
    }
  }
  std::ranges::sort(pairs);
  double sum = 0;
  for (double pair : pairs) sum += pair;
  if (value.rule == WidthRule::kMean) return sum / static_cast<double>(pairs.size());
  const double at = value.quantile * static_cast<double>(pairs.size() - 1);
  const std::size_t low = static_cast<std::size_t>(at), high = std::min(low + 1, pairs.size() - 1);
  return std::lerp(pairs[low], pairs[high], at - std::floor(at));
}

const SpecValue kRules[] = {
    {.rule = WidthRule::kMean},
    {.rule = WidthRule::kQuantile, .quantile = 0.5},
    {.number = 4, .rule = WidthRule::kQuantile, .quantile = 0.5},
    {.rule = WidthRule::kQuantile, .quantile = 0.137},
    {.rule = WidthRule::kQuantile, .quantile = 1},
};

TEST(Widths, AgreeWithAllPairsDenseAndSparse) {
  const Rows source = MakeRows(41, 300, 0.4, 3);
  const std::vector<View> dense = {
      {.name = "data", .features = MakeDense(source.values, 41, 300), .feature_names = {}}};
  const std::vector<View> sparse = {{.name = "data", .features = AsSparse(source), .feature_names = {}}};
  const FeatureSubset subsets[] = {{}, {7}, {0, 5, 299}};
  for (const KernelKind* one : KernelTable()) {
    const KernelKind& kind = *one;
    if (WidthPlace(kind) == kind.parameters.size()) continue;
    const bool is_root = kind.parameters[WidthPlace(kind)].width == ParameterRule::Width::kRoot;
    Widths dense_widths(dense, 0), sparse_widths(sparse, 0);
    for (std::int32_t s = 0; s < 3; ++s) {
      for (const SpecValue& rule : kRules) {
        const double statistic = PlainStatistic(source, kind, subsets[s], rule);
        // Without any spread the number of features takes its place.
        const double width =
            statistic > 0 ? statistic : static_cast<double>(s == 0 ? 300 : subsets[s].size());
        const double expected = is_root ? rule.number * std::sqrt(width) : rule.number / width;
        EXPECT_NEAR(ValueOf(dense_widths, rule, kind, s, subsets[s]), expected, 1e-12 * expected)
            << kind.name << s;
        EXPECT_NEAR(ValueOf(sparse_widths, rule, kind, s, subsets[s]), expected, 1e-12 * expected)
            << kind.name << s;
      }
    }
  }
}

TEST(Widths, KeepDigitsFarFromTheOrigin) {
  const Rows source = MakeRows(30, 5, 1, 9, 1e6);
  const std::vector<View> views = {
      {.name = "data", .features = MakeDense(source.values, 30, 5), .feature_names = {}}};
  const KernelKind& rbf = *FindKernelKind("rbf");
  const double expected = 1 / PlainStatistic(source, rbf, {}, kRules[1]);
  EXPECT_NEAR(ValueOf(Widths(views, 0), kRules[1], rbf, 0, {}), expected, 1e-8 * expected);
}

TEST(Widths, FallBackWhereThereIsNothingToMeasure) {
  const KernelKind& rbf = *FindKernelKind("rbf");
  const double huge = std::numeric_limits<double>::max();
  const std::vector<std::vector<double>> cases = {
      {3, 3, 3, 3, 3, 3, 3, 3}, {1, 2, 3, 4}, {huge, 1, -huge, 2, huge, 1, -huge, 2}};
  for (const std::vector<double>& values : cases) {
    const Index rows = static_cast<Index>(values.size()) / 4;
    const std::vector<View> views = {
        {.name = "data", .features = MakeDense(values, rows, 4), .feature_names = {}}};
    Widths widths(views, 0);
    for (const SpecValue& rule : kRules) {
      EXPECT_EQ(ValueOf(widths, rule, rbf, 0, {}), rule.number / 4);
      if (values[0] == huge) continue;
      EXPECT_EQ(ValueOf(widths, rule, rbf, 1, {2}), rule.number);
    }
  }
}

TEST(Widths, ASeededSampleStandsForManyRows) {
  const Index rows = 2 * Widths::kMaxRows;
  const Rows source = MakeRows(rows, 3, 1, 5);
  const std::vector<View> views = {
      {.name = "data", .features = MakeDense(source.values, rows, 3), .feature_names = {}}};
  const KernelKind& rbf = *FindKernelKind("rbf");
  const double one = ValueOf(Widths(views, 1), kRules[1], rbf, 0, {});
  EXPECT_EQ(one, ValueOf(Widths(views, 1), kRules[1], rbf, 0, {}));
  EXPECT_NE(one, ValueOf(Widths(views, 2), kRules[1], rbf, 0, {}));
  EXPECT_NEAR(one, ValueOf(Widths(views, 2), kRules[1], rbf, 0, {}), 0.1 * one);
}

// When a model is verified, its widths are found again, to the last digit.
TEST(PairValues, AreTheSameWhateverTheThreadsOfTheBlas) {
  const Rows source = MakeRows(150, 64, 1, 6);
  std::vector<Index> rows(150);
  std::iota(rows.begin(), rows.end(), 0);
  const Features features = MakeDense(source.values, 150, 64);
  const int before = openblas_get_num_threads();
  std::vector<double> values[2];
  for (const int threads : {1, 2}) {
    openblas_set_num_threads(threads);
    values[threads - 1] = PairValues(*FindKernelKind("rbf")->base, 0, features, rows, {});
  }
  openblas_set_num_threads(before);
  EXPECT_EQ(values[0], values[1]);
}

}  // namespace
}  // namespace kweave
