#include "gram/kernel_parts.h"

#include <gtest/gtest.h>

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

// What a Gram computes that keeps all its bases, in matrices.
double BasesMade(const KernelSet& kernels, const std::vector<View>& views,
                 const std::vector<Normalizer>& sequence, const GramOptions& options) {
  ThreadPool pool(1);
  const Normalization normalization = FitNormalization(kernels, views, sequence, pool);
  const auto gram = MakeGram(kernels, views, normalization, options, pool);
  gram->KeepBases();
  return static_cast<double>(gram->base_values()) / (kSamples * kSamples);
}

TEST(CountBases, AgreesWithWhatAGramMakes) {
  struct Case {
    std::vector<std::string> specifications;
    std::string normalize;
    Index features;
    Index expected;  // by tables where those serve
  };
  const std::vector<Case> cases = {
      {{"rbf(gamma=[1,2,3])", "linear"}, "multiplicative", kFeatures, 1},
      {{"rbf(gamma=1)", "laplacian(gamma=1)"}, "none", kFeatures, 2},
      {{"linear"}, "trace", kFeatures, 0},
      {{"linear", "rbf(gamma=1)"}, "multiplicative", 200, 2},
      {{"each(rbf(gamma=[1,2]))", "each(poly(degree=2, gamma=1, coef0=1))"}, "multiplicative", kFeatures, 0},
      {{"each(laplacian(gamma=1))"}, "multiplicative", kFeatures, kFeatures},
      // Too narrow for few terms.
      {{"each(rbf(gamma=1e6))"}, "multiplicative", kFeatures, kFeatures},
      // Each needs rows of its own: normalised by more than a factor, or built from others.
      {{"each(rbf(gamma=1))"}, "center", kFeatures, kFeatures},
      {{"each(rbf(gamma=1))"}, "spherical", kFeatures, 0},
      {{"each(rbf(gamma=1))", "rbf(gamma=1)@x[1]*rbf(gamma=1)@x[2]"}, "none", kFeatures, 2},
  };
  for (const Case& one : cases) {
    const std::vector<View> views = MakeViews(one.features);
    const KernelSet kernels = ParseKernels(one.specifications, views, 0);
    const std::vector<Normalizer> sequence = ParseNormalizers(one.normalize);
    for (const bool use_float : {true, false}) {
      for (const FamilyEvaluation evaluation : {FamilyEvaluation::kAuto, FamilyEvaluation::kDirect}) {
        const GramOptions options{.use_float = use_float, .evaluation = evaluation};
        const Index found = CountBases(kernels, views, sequence, options);
        EXPECT_EQ(static_cast<double>(found), BasesMade(kernels, views, sequence, options))
            << one.specifications[0] << ", " << one.normalize;
        if (evaluation == FamilyEvaluation::kAuto) EXPECT_EQ(found, one.expected) << one.specifications[0];
      }
    }
  }
}

// Beyond the memory that rows of all features together may take, features have rows of their own.
TEST(CountBases, CountsFeaturesThatFindNoRoom) {
  constexpr Index kMany = 3000;
  const std::vector<View> views = MakeViews(kMany);
  const KernelSet kernels = ParseKernels(std::vector<std::string>{"each(rbf(gamma=1))"}, views, 0);
  const std::vector<Normalizer> sequence = ParseNormalizers("multiplicative");
  const Index in_float = CountBases(kernels, views, sequence, {.use_float = true});
  const Index in_double = CountBases(kernels, views, sequence, {.use_float = false});
  EXPECT_GT(in_float, 0);
  EXPECT_GT(in_double, in_float);
  EXPECT_LT(in_double, kMany);
}

}  // namespace
}  // namespace kweave
