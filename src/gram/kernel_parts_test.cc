#include "gram/kernel_parts.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"
#include "kernel/language.h"

namespace kweave {
namespace {

constexpr Index kSamples = 400, kFeatures = 5;

std::vector<View> MakeViews(Index features) {
  Random random(3);
  std::vector<double> values(kSamples * features);
  for (double& value : values) value = random.Uniform();
  return {{"x", MakeDense(values, kSamples, features), {}}};
}

// What a Gram computes that keeps all its bases, and what it does not compute again where it has a cache; in matrices.
BaseCount CountComputed(const KernelSet& kernels, const std::vector<View>& views,
                        const std::vector<Normalizer>& sequence, GramOptions options) {
  constexpr Index kPairs = kSamples * kSamples;
  ThreadPool pool(1);
  const Normalization normalization = FitNormalization(kernels, views, sequence, pool);
  const auto keeping = MakeGram(kernels, views, normalization, options, pool);
  keeping->KeepBases();
  const Index made = keeping->base_values() / kPairs;

  options.cache_bytes = std::size_t{1} << 30;
  const auto caching = MakeGram(kernels, views, normalization, options, pool);
  std::vector<Index> rows(kSamples);
  std::iota(rows.begin(), rows.end(), Index{0});
  std::vector<double> out(kPairs);
  caching->Rows(std::vector<double>(kernels.size(), 1.0), rows, out.data(), kSamples);
  const std::int64_t once = caching->base_values();
  caching->Rows(std::vector<double>(kernels.size(), 2.0), rows, out.data(), kSamples);
  return {made, made - (caching->base_values() - once) / kPairs};
}

TEST(CountBases, AgreesWithWhatAGramMakes) {
  struct Case {
    std::vector<std::string> specifications;
    std::string normalize;
    Index features;
    BaseCount expected;  // by tables where those serve
  };
  const std::vector<Case> cases = {
      {{"rbf(gamma=[1,2,3])", "linear"}, "multiplicative", kFeatures, {1, 0}},
      {{"rbf(gamma=1)", "laplacian(gamma=1)"}, "none", kFeatures, {2, 0}},
      {{"rbf(gamma=1)", "laplacian(gamma=1)"}, "none", 100, {2, 1}},
      {{"linear"}, "trace", kFeatures, {0, 0}},
      {{"linear", "rbf(gamma=1)"}, "multiplicative", 200, {2, 2}},
      {{"each(rbf(gamma=[1,2]))", "each(poly(degree=2, gamma=1, coef0=1))"},
       "multiplicative",
       kFeatures,
       {0, 0}},
      {{"each(laplacian(gamma=1))"}, "multiplicative", kFeatures, {kFeatures, 0}},
      // Too narrow for few terms.
      {{"each(rbf(gamma=1e6))"}, "multiplicative", kFeatures, {kFeatures, 0}},
      // Each needs rows of its own: normalised by more than a factor, or built from others.
      {{"each(rbf(gamma=1))"}, "center", kFeatures, {kFeatures, 0}},
      {{"each(rbf(gamma=1))"}, "spherical", kFeatures, {0, 0}},
      {{"each(rbf(gamma=1))", "laplacian(gamma=1)@x[1]*laplacian(gamma=1)@x[2]"}, "none", kFeatures, {2, 0}},
  };
  for (const Case& one : cases) {
    const std::vector<View> views = MakeViews(one.features);
    const KernelSet kernels = ParseKernels(one.specifications, views, 0);
    const std::vector<Normalizer> sequence = ParseNormalizers(one.normalize);
    for (const bool use_float : {true, false}) {
      for (const FamilyEvaluation evaluation : {FamilyEvaluation::kAuto, FamilyEvaluation::kDirect}) {
        const GramOptions options{.use_float = use_float, .evaluation = evaluation};
        SCOPED_TRACE(one.specifications[0] + ", " + one.normalize);
        const BaseCount found = CountBases(kernels, views, sequence, options);
        const BaseCount computed = CountComputed(kernels, views, sequence, options);
        EXPECT_EQ(found.made, computed.made);
        EXPECT_EQ(found.cached, computed.cached);
        if (evaluation == FamilyEvaluation::kDirect) continue;
        EXPECT_EQ(found.made, one.expected.made);
        EXPECT_EQ(found.cached, one.expected.cached);
      }
    }
  }
}

TEST(CountBases, CountsBasesOnceThatFamiliesShareWithProducts) {
  const std::vector<View> views = MakeViews(kFeatures);
  const KernelSet kernels = ParseKernels(
      std::vector<std::string>{"each(rbf(gamma=1))", "rbf(gamma=1)@x[1]*rbf(gamma=1)@x[2]"}, views, 0);
  for (const auto& [evaluation, expected] :
       {std::pair(FamilyEvaluation::kAuto, Index{2}), std::pair(FamilyEvaluation::kDirect, kFeatures)}) {
    const GramOptions options{.use_float = true, .evaluation = evaluation};
    EXPECT_EQ(CountBases(kernels, views, {}, options).made, expected);
    EXPECT_EQ(CountComputed(kernels, views, {}, options).made, expected);
  }
}

TEST(CountBases, CachesSparseProductsOfManyEntries) {
  for (const Index entries : {5, 20}) {
    std::vector<Index> offsets;
    std::vector<std::int32_t> columns;
    const std::vector<double> values(kSamples * entries, 0.5);
    for (Index i = 0; i <= kSamples; ++i) offsets.push_back(i * entries);
    for (Index k = 0; k < kSamples * entries; ++k)
      columns.push_back(static_cast<std::int32_t>(k % entries * 3));
    const std::vector<View> views = {
        {"x", SparseRows{offsets.data(), columns.data(), values.data(), kSamples, 60, nullptr}, {}}};
    const KernelSet kernels = ParseKernels(std::vector<std::string>{"rbf(gamma=1)"}, views, 0);
    const BaseCount found = CountBases(kernels, views, {}, {.use_float = true});
    const BaseCount computed = CountComputed(kernels, views, {}, {.use_float = true});
    EXPECT_EQ(found.cached, entries == 20 ? 1 : 0);
    EXPECT_EQ(found.cached, computed.cached);
  }
}

// Beyond the memory that rows of all features together may take, features have rows of their own.
TEST(CountBases, CountsFeaturesThatFindNoRoom) {
  constexpr Index kMany = 3000;
  const std::vector<View> views = MakeViews(kMany);
  const KernelSet kernels = ParseKernels(std::vector<std::string>{"each(rbf(gamma=1))"}, views, 0);
  const std::vector<Normalizer> sequence = ParseNormalizers("multiplicative");
  const Index in_float = CountBases(kernels, views, sequence, {.use_float = true}).made;
  const Index in_double = CountBases(kernels, views, sequence, {.use_float = false}).made;
  EXPECT_GT(in_float, 0);
  EXPECT_GT(in_double, in_float);
  EXPECT_LT(in_double, kMany);
}

}  // namespace
}  // namespace kweave
