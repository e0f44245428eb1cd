#include "gram/gram_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

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

// Samples with so many entries each.
struct SparseSet {
  explicit SparseSet(Index entries) : values(kSamples * entries, 0.5) {
    for (Index i = 0; i <= kSamples; ++i) offsets.push_back(i * entries);
    for (Index k = 0; k < kSamples * entries; ++k)
      columns.push_back(static_cast<std::int32_t>(k % entries * 3));
  }
  View view() const {
    return {"x",
            SparseRows{offsets.data(), columns.data(), values.data(), kSamples, columns.back() + 1, nullptr},
            {}};
  }
  std::vector<Index> offsets;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

// Matrices of base quantities.
struct BaseCount {
  Index made = 0;
  Index cached = 0;  // of those that a cache is of use for
};

GramPlan Plan(const KernelSet& kernels, const std::vector<View>& views,
              const std::vector<Normalizer>& sequence, const GramOptions& options) {
  return PlanGram(kernels, {views, views, true, {}}, UnfittedNormalization(kernels, views, sequence),
                  options.evaluation, options.use_float);
}

// What a Gram computes that keeps all its bases, and what it does not compute again where it has a cache; in
// matrices.
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
  caching->Learn(std::vector<double>(kernels.size(), 1.0))->Rows(rows, out.data(), kSamples);
  const std::int64_t once = caching->base_values();
  caching->Learn(std::vector<double>(kernels.size(), 2.0))->Rows(rows, out.data(), kSamples);
  return {made, made - (caching->base_values() - once) / kPairs};
}

TEST(GramPlan, AgreesWithWhatAGramMakes) {
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
        const GramPlan plan = Plan(kernels, views, sequence, options);
        const BaseCount computed = CountComputed(kernels, views, sequence, options);
        EXPECT_EQ(plan.MatrixCount(), computed.made);
        EXPECT_EQ(plan.CachedCount(), computed.cached);
        if (evaluation == FamilyEvaluation::kDirect) continue;
        EXPECT_EQ(plan.MatrixCount(), one.expected.made);
        EXPECT_EQ(plan.CachedCount(), one.expected.cached);
      }
    }
  }
}

TEST(GramPlan, CountsBasesOnceThatFamiliesShareWithProducts) {
  const std::vector<View> views = MakeViews(kFeatures);
  const KernelSet kernels = ParseKernels(
      std::vector<std::string>{"each(rbf(gamma=1))", "rbf(gamma=1)@x[1]*rbf(gamma=1)@x[2]"}, views, 0);
  for (const auto& [evaluation, expected] :
       {std::pair(FamilyEvaluation::kAuto, Index{2}), std::pair(FamilyEvaluation::kDirect, kFeatures)}) {
    const GramOptions options{.use_float = true, .evaluation = evaluation};
    EXPECT_EQ(Plan(kernels, views, {}, options).MatrixCount(), expected);
    EXPECT_EQ(CountComputed(kernels, views, {}, options).made, expected);
  }
}

TEST(GramPlan, CachesSparseProductsOfManyEntries) {
  for (const Index entries : {5, 20}) {
    const SparseSet set(entries);
    const std::vector<View> views = {set.view()};
    const KernelSet kernels = ParseKernels(std::vector<std::string>{"rbf(gamma=1)"}, views, 0);
    const Index cached = Plan(kernels, views, {}, {.use_float = true}).CachedCount();
    const BaseCount computed = CountComputed(kernels, views, {}, {.use_float = true});
    EXPECT_EQ(cached, entries == 20 ? 1 : 0);
    EXPECT_EQ(cached, computed.cached);
  }
}

// Beyond the memory that rows of all features together may take, features have rows of their own.
TEST(GramPlan, CountsFeaturesThatFindNoRoom) {
  constexpr Index kMany = 3000;
  const std::vector<View> views = MakeViews(kMany);
  const KernelSet kernels = ParseKernels(std::vector<std::string>{"each(rbf(gamma=1))"}, views, 0);
  const std::vector<Normalizer> sequence = ParseNormalizers("multiplicative");
  const Index in_float = Plan(kernels, views, sequence, {.use_float = true}).MatrixCount();
  const Index in_double = Plan(kernels, views, sequence, {.use_float = false}).MatrixCount();
  EXPECT_GT(in_float, 0);
  EXPECT_GT(in_double, in_float);
  EXPECT_LT(in_double, kMany);
}

// What the program has taken from the system's allocator; nothing under sanitizers, which have their own.
std::size_t TakenBytes() {
  const struct mallinfo2 taken = mallinfo2();
  return taken.uordblks + taken.hblkhd;
}

TEST(GramPlan, KnowsTheBytesThatAGramTakes) {
  const std::size_t before = TakenBytes();
  const std::vector<double> probe(1 << 20);
  if (TakenBytes() < before + sizeof(double) * probe.size()) GTEST_SKIP() << "another allocator";
  const SparseSet sparse(1000);
  const std::vector<std::vector<View>> data = {MakeViews(1000), {sparse.view()}};
  // Two bases, features, a table with rows for every feature, and bases for every feature.
  for (const std::string text : {"rbf(gamma=[1,2])", "laplacian(gamma=1)", "linear", "each(rbf(gamma=1))",
                                 "each(laplacian(gamma=1))"}) {
    for (const std::vector<View>& views : data) {
      const bool is_sparse = std::holds_alternative<SparseRows>(views[0].features);
      if (is_sparse && text.starts_with("each")) continue;
      for (const bool use_float : {true, false}) {
        SCOPED_TRACE(fmt::format("{} sparse {} float {}", text, is_sparse, use_float));
        const KernelSet kernels = ParseKernels(std::vector<std::string>{text, "linear"}, views, 0);
        const Normalization normalization = UnfittedNormalization(kernels, views, {});
        ThreadPool pool(1);
        const GramOptions options{.use_float = use_float};
        const auto planned = static_cast<double>(Plan(kernels, views, {}, options).Bytes());
        const std::size_t start = TakenBytes();
        const auto gram = MakeGram(kernels, views, normalization, options, pool);
        std::vector<double> diagonal(kSamples);
        gram->Learn(std::vector<double>(kernels.size(), 1.0))->Diagonal(diagonal);  // factors are made now
        const auto taken = static_cast<double>(TakenBytes() - start);
        EXPECT_LE(taken, 1.1 * planned);
        EXPECT_GE(taken, 0.6 * planned);
      }
    }
  }
}

}  // namespace
}  // namespace kweave
