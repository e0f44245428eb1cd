#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/dot.h"
#include "base/random.h"
#include "gram/make_gram.h"
#include "kernel/language.h"

namespace kweave {
namespace {

// Several blocks of columns and batches of rows, the last of each not full.
constexpr Index kSamples = 1100, kFeatures = 6;

std::vector<View> MakeViews() {
  Random random(5);
  std::vector<double> values(kSamples * kFeatures);
  for (double& value : values) value = 2 * random.Uniform() - 1;
  return {{"x", MakeDense(values, kSamples, kFeatures), {}}};
}

// Zero for most samples, and for others than in the next.
std::vector<double> MakeVector(std::uint64_t seed) {
  Random random(seed);
  std::vector<double> a(kSamples);
  for (double& value : a) value = random.Uniform() < 0.7 ? 0 : random.Uniform() - 0.5;
  return a;
}

// A kernel with a linear one beside it.
struct FittedKernels {
  std::vector<View> views;
  KernelSet kernels;
  Normalization normalization;
};

FittedKernels WithLinear(const std::string& kernel, ThreadPool& pool) {
  FittedKernels fitted{MakeViews(), {}, {}};
  const std::vector<std::string> specs = {kernel, "linear"};
  fitted.kernels = ParseKernels(specs, fitted.views, 0);
  fitted.normalization = FitNormalization(fitted.kernels, fitted.views, ParseNormalizers("trace"), pool);
  return fitted;
}

VectorRequest Ask(std::span<const double> theta, std::span<const double> a, double rough_error = 0,
                  std::span<const Index> precise_at = {}) {
  return {.a = a, .theta = theta, .rough_error = rough_error, .precise_at = precise_at};
}

class MeasureTest : public testing::TestWithParam<std::tuple<std::string, bool, FamilyEvaluation>> {};

TEST_P(MeasureTest, AgreesWithExpansions) {
  const auto& [kernel, use_float, evaluation] = GetParam();
  ThreadPool pool(2), alone(1);
  const auto [views, kernels, normalization] = WithLinear(kernel, pool);
  const GramOptions options{use_float, evaluation, 0, false};
  const auto gram = MakeGram(kernels, views, normalization, options, pool);
  const auto same = MakeGram(kernels, views, normalization, options, alone);

  std::vector<double> theta(kernels.size());
  Random random(2);
  for (double& weight : theta) weight = random.Uniform() < 0.3 ? 0 : random.Uniform();
  const std::vector<double> first = MakeVector(3), second = MakeVector(4);
  const std::vector<std::span<const double>> vectors = {first, second};
  const std::vector<VectorRequest> requests = {Ask(theta, first), Ask(theta, second)};
  const std::vector<VectorAnswer> measured = gram->AnswerAll(requests);
  const std::vector<VectorAnswer> again = same->AnswerAll(requests);
  const double tolerance = use_float ? 1e-4 : 1e-10;
  ASSERT_EQ(measured.size(), vectors.size());
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    EXPECT_EQ(measured[v].outputs, again[v].outputs) << "threads change nothing";
    EXPECT_EQ(measured[v].quadratics, again[v].quadratics);
    const auto expansion = gram->Expand(vectors[v]);
    std::vector<double> quadratics(theta.size()), outputs(kSamples);
    expansion->Quadratics(quadratics);
    expansion->Outputs(theta, outputs);
    for (std::size_t m = 0; m < theta.size(); ++m) {
      EXPECT_NEAR(measured[v].quadratics[m], quadratics[m], tolerance * (1 + quadratics[m])) << m;
    }
    for (Index j = 0; j < kSamples; ++j) ASSERT_NEAR(measured[v].outputs[j], outputs[j], 10 * tolerance) << j;
  }
}

// With and without rows kept, which are read differently.
TEST_P(MeasureTest, QuadraticsAloneAreThoseOfTheExpansion) {
  const auto& [kernel, use_float, evaluation] = GetParam();
  ThreadPool pool(2);
  const auto [views, kernels, normalization] = WithLinear(kernel, pool);
  // Products have nothing to save, and single features go through their dimensions unless evaluated directly.
  const bool is_served = kernel.find('*') == std::string::npos &&
                         (!kernel.starts_with("each") || evaluation == FamilyEvaluation::kDirect);
  const double tolerance = use_float ? 1e-4 : 1e-10;
  for (const std::size_t cache_bytes : {0, 1 << 20, 1 << 26}) {
    const auto gram =
        MakeGram(kernels, views, normalization, {use_float, evaluation, cache_bytes, false}, pool);
    for (const std::uint64_t seed : {1, 2}) {
      const std::vector<double> a = MakeVector(seed);
      std::vector<double> expected(kernels.size());
      ASSERT_EQ(gram->shape().has_cheap_quadratics, is_served);
      const std::vector<double> alone = gram->Answer({.a = a}).quadratics;
      const auto expansion = gram->Expand(a);  // from rows that the quadratics may have left behind
      expansion->Quadratics(expected);
      for (std::size_t m = 0; m < expected.size(); ++m) {
        EXPECT_NEAR(alone[m], expected[m], tolerance * (1 + expected[m])) << m;
      }
    }
  }
}

TEST_P(MeasureTest, OfVectorsWithTheirOwnWeightsIsThatOfEach) {
  const auto& [kernel, use_float, evaluation] = GetParam();
  ThreadPool pool(2);
  const auto [views, kernels, normalization] = WithLinear(kernel, pool);
  const auto gram = MakeGram(kernels, views, normalization, {use_float, evaluation, 0, false}, pool);
  const auto other = MakeGram(kernels, views, normalization, {use_float, evaluation, 0, false}, pool);
  Random random(7);
  std::vector<std::vector<double>> weights(3, std::vector<double>(kernels.size())), drawn;
  for (double& weight : weights[0]) weight = random.Uniform();
  for (double& weight : weights[2]) weight = random.Uniform() < 0.5 ? 0 : random.Uniform();
  // The second kernel is zero everywhere, two vectors share the third, and one vector is zero.
  for (const std::uint64_t seed : {1, 2, 3, 4}) drawn.push_back(MakeVector(seed));
  drawn.emplace_back(kSamples, 0.0);
  const std::vector<VectorRequest> requests = {Ask(weights[0], drawn[0]), Ask(weights[1], drawn[1]),
                                               Ask(weights[2], drawn[2]), Ask(weights[2], drawn[3]),
                                               Ask(weights[0], drawn[4])};
  const std::vector<VectorAnswer> measured = gram->AnswerAll(requests);
  const double tolerance = use_float ? 1e-4 : 1e-10;
  ASSERT_EQ(measured.size(), requests.size());
  for (std::size_t v = 0; v < requests.size(); ++v) {
    const VectorAnswer one = other->Answer(requests[v]);
    for (std::size_t m = 0; m < one.quadratics.size(); ++m) {
      EXPECT_NEAR(measured[v].quadratics[m], one.quadratics[m], tolerance * (1 + one.quadratics[m])) << m;
    }
    for (Index j = 0; j < kSamples; ++j) {
      ASSERT_NEAR(measured[v].outputs[j], one.outputs[j], 10 * tolerance) << j;
    }
  }
}

// Where few samples need precise outputs, those of the others are as wrong as was allowed, at most.
TEST_P(MeasureTest, RoughOutputsAreAsWrongAsAllowed) {
  const auto& [kernel, use_float, evaluation] = GetParam();
  ThreadPool pool(2);
  const auto [views, kernels, normalization] = WithLinear(kernel, pool);
  const GramOptions options{use_float, evaluation, 0, false};
  const auto gram = MakeGram(kernels, views, normalization, options, pool);
  const auto other = MakeGram(kernels, views, normalization, options, pool);
  std::vector<double> theta(kernels.size(), 0.5);
  const std::vector<double> first = MakeVector(3), second = MakeVector(4), third = MakeVector(5);
  std::vector<Index> precise_at;
  for (Index i = 0; i < kSamples; i += 1 + i % 7) precise_at.push_back(i);
  constexpr double kAllowed = 0.01;
  // With precise samples, without any, and all precise; the last has no room for floats.
  const std::vector<VectorRequest> requests = {Ask(theta, first, kAllowed, precise_at),
                                               Ask(theta, second, kAllowed), Ask(theta, third),
                                               Ask(theta, first, 1e-9)};
  const std::vector<VectorAnswer> measured = gram->AnswerAll(requests);
  const std::vector<VectorAnswer> exact = other->AnswerAll(
      std::vector{Ask(theta, first), Ask(theta, second), Ask(theta, third), Ask(theta, first)});
  const double tolerance = use_float ? 1e-4 : 1e-10;
  const bool has_rough =
      !use_float && evaluation == FamilyEvaluation::kAuto && kernel.starts_with("rbf(gamma=log");
  for (std::size_t v = 0; v < requests.size(); ++v) {
    for (std::size_t m = 0; m < theta.size(); ++m) {
      EXPECT_NEAR(measured[v].quadratics[m], exact[v].quadratics[m],
                  tolerance * (1 + exact[v].quadratics[m]));
    }
    double largest = 0;
    for (Index j = 0; j < kSamples; ++j) {
      const double error = std::abs(measured[v].outputs[j] - exact[v].outputs[j]);
      const bool is_precise = std::ranges::binary_search(requests[v].precise_at, j);
      EXPECT_LE(error, is_precise ? 10 * tolerance : std::max(requests[v].rough_error, 10 * tolerance))
          << j << " of vector " << v;
      largest = std::max(largest, error);
    }
    EXPECT_EQ(measured[v].rough_error > 0, has_rough && v < 2);
    EXPECT_LE(measured[v].rough_error, requests[v].rough_error);
    EXPECT_EQ(largest > 1e-6, has_rough && v < 2) << v << ": error " << largest;
  }
}

// Two families and a linear kernel share the error that is allowed.
TEST(Measure, RoughOutputsOfSeveralFamiliesAddUpToWhatIsAllowed) {
  ThreadPool pool(2);
  std::vector<View> views = MakeViews();
  views.push_back({"z", MakeViews()[0].features, {}});
  const std::vector<std::string> specs = {"rbf(gamma=logspace(0.01,10,20))@x",
                                          "rbf(gamma=logspace(0.1,30,12))@z", "linear@x"};
  const KernelSet kernels = ParseKernels(specs, views, 0);
  const Normalization normalization = FitNormalization(kernels, views, ParseNormalizers("trace"), pool);
  const GramOptions options{false, FamilyEvaluation::kAuto, 0, false};
  const auto gram = MakeGram(kernels, views, normalization, options, pool);
  const std::vector<double> theta(kernels.size(), 0.3), a = MakeVector(3), b = MakeVector(4);
  for (const double allowed : {0.02, 0.2}) {
    const std::vector<VectorAnswer> rough =
        gram->AnswerAll(std::vector{Ask(theta, a, allowed), Ask(theta, b, allowed)});
    const std::vector<VectorAnswer> exact = gram->AnswerAll(std::vector{Ask(theta, a), Ask(theta, b)});
    for (std::size_t v = 0; v < rough.size(); ++v) {
      EXPECT_GT(rough[v].rough_error, 0);
      EXPECT_LE(rough[v].rough_error, allowed);
      double largest = 0;
      for (Index j = 0; j < kSamples; ++j) {
        largest = std::max(largest, std::abs(rough[v].outputs[j] - exact[v].outputs[j]));
      }
      EXPECT_LE(largest, rough[v].rough_error);
      EXPECT_GT(largest, 1e-7);
    }
  }
}

// Beyond the range of floats outputs are precise.
TEST(Measure, OutputsAreNotRoughWhereFloatsEnd) {
  ThreadPool pool(1);
  const auto [views, kernels, normalization] = WithLinear("rbf(gamma=logspace(0.01,10,20))", pool);
  const auto gram = MakeGram(kernels, views, normalization, {false, FamilyEvaluation::kAuto, 0, false}, pool);
  const std::vector<double> tiny(kernels.size(), 1e-40);
  std::vector<double> huge(kSamples, 0.0);
  huge[3] = 1e39;
  const VectorAnswer found = gram->Answer(Ask(tiny, huge, 0.01));
  const VectorAnswer exact = gram->Answer(Ask(tiny, huge));
  EXPECT_EQ(found.rough_error, 0);
  EXPECT_EQ(found.outputs, exact.outputs);
}

// What a base keeps for many may be another quantity, and a part of the samples reads that.
void ExpectKeptBasesChangeNoValue(const std::vector<std::string>& specs, bool use_float,
                                  FamilyEvaluation evaluation) {
  ThreadPool pool(2);
  const std::vector<View> views = MakeViews();
  const KernelSet kernels = ParseKernels(specs, views, 0);
  const Normalization normalization = FitNormalization(kernels, views, ParseNormalizers("trace"), pool);
  const auto plain = MakeGram(kernels, views, normalization, {use_float, evaluation, 0, false}, pool);
  const auto kept = MakeGram(kernels, views, normalization, {use_float, evaluation, 0, false}, pool);
  std::vector<double> before(kernels.size(), 0.0), dense(kernels.size(), 0.5);
  before[0] = 1;
  const std::vector<Index> rows = {0, 7, 1099};
  std::vector<double> expected(rows.size() * kSamples), values(rows.size() * kSamples);
  kept->Learn(before)->Rows(rows, values.data(), kSamples);
  kept->KeepBases();

  const std::vector<Index> chosen = {0, 7, 8, 500, 512, 700, 1099};
  std::vector<double> part_values(chosen.size() * chosen.size());
  const std::vector<View> part_views = {{"x", SelectRows(views[0].features, chosen), {}}};
  const auto part = MakeGram(kernels, part_views, normalization,
                             {use_float, evaluation, 0, false, kept->bases(), chosen}, pool);
  const std::vector<Index> part_rows = {0, 1, 2, 3, 4, 5, 6};
  const std::vector<double> a = MakeVector(3);
  const double tolerance = use_float ? 1e-5 : 1e-11;
  for (const std::vector<double>& theta : {before, dense}) {
    plain->Learn(theta)->Rows(rows, expected.data(), kSamples);
    kept->Learn(theta)->Rows(rows, values.data(), kSamples);
    part->Learn(theta)->Rows(part_rows, part_values.data(), static_cast<Index>(chosen.size()));
    for (std::size_t k = 0; k < values.size(); ++k) ASSERT_NEAR(values[k], expected[k], tolerance) << k;
    for (std::size_t j = 0; j < chosen.size(); ++j) {
      EXPECT_NEAR(part_values[chosen.size() + j], expected[kSamples + chosen[j]], tolerance) << j;
    }
    std::vector<double> outputs(kSamples), again(kSamples);
    plain->Expand(a)->Outputs(theta, outputs);
    kept->Expand(a)->Outputs(theta, again);
    for (Index j = 0; j < kSamples; ++j) ASSERT_NEAR(again[j], outputs[j], 100 * tolerance) << j;
  }
}

TEST_P(MeasureTest, KeptBasesChangeNoValue) {
  const auto& [kernel, use_float, evaluation] = GetParam();
  ExpectKeptBasesChangeNoValue({kernel, "linear"}, use_float, evaluation);
}

TEST_P(MeasureTest, KeptBasesWithSeveralReadersChangeNoValue) {
  const auto& [kernel, use_float, evaluation] = GetParam();
  ExpectKeptBasesChangeNoValue({kernel, "rbf(gamma=0.3)*linear"}, use_float, evaluation);
}

// The error that a learned kernel may have is made use of, and no more than that; quadratics have none of it.
void ExpectShorterTableIsGoodEnough(const std::string& spec, const std::string& normalizers) {
  ThreadPool pool(2);
  const std::vector<View> views = MakeViews();
  const std::vector<std::string> specs = {spec};
  const KernelSet kernels = ParseKernels(specs, views, 0);
  const Normalization normalization = FitNormalization(kernels, views, ParseNormalizers(normalizers), pool);
  const GramOptions options{false, FamilyEvaluation::kTable, 0, false};
  GramOptions shorter = options;
  shorter.learned_error = 1e-6;
  const auto exact = MakeGram(kernels, views, normalization, options, pool);
  const auto rough = MakeGram(kernels, views, normalization, shorter, pool);
  EXPECT_GT(rough->shape().table_error, 100 * exact->shape().table_error);
  EXPECT_LT(rough->shape().table_error, 1e-4);
  const std::vector<double> theta(kernels.size(), 0.3), a = MakeVector(5);
  const double size = SumOfMagnitudes(a), weight = SumOfMagnitudes(theta);
  double largest = 0;
  const VectorAnswer expected = exact->Answer(Ask(theta, a));
  const VectorAnswer found = rough->Answer(Ask(theta, a));
  for (Index j = 0; j < kSamples; ++j) {
    largest = std::max(largest, std::abs(found.outputs[j] - expected.outputs[j]));
  }
  EXPECT_LE(largest, weight * rough->shape().table_error * size);
  EXPECT_GT(largest, 1e-9 * size);
  for (std::size_t m = 0; m < theta.size(); ++m) {
    EXPECT_NEAR(found.quadratics[m], expected.quadratics[m], 1e-10 * (1 + expected.quadratics[m]));
  }
}

TEST(Measure, OfAShorterTableIsWithinTheErrorItMayHave) {
  ExpectShorterTableIsGoodEnough("rbf(gamma=logspace(0.01,10,20))", "trace");
}

// Wide kernels hardly vary, so that normalisation makes them large.
TEST(Measure, OfAShorterTableIsWithinItForWideKernelsToo) {
  ExpectShorterTableIsGoodEnough("rbf(gamma=logspace(1e-6,10,20))", "multiplicative");
}

INSTANTIATE_TEST_SUITE_P(
    AllWays, MeasureTest,
    testing::Combine(testing::Values("rbf(gamma=logspace(0.01,10,20))", "rbf(gamma=[0.1,1])",
                                     "each(rbf(gamma=logspace(0.01,10,8)))", "poly(degree=1..3)",
                                     "poly(degree=1..3,gamma=[0.1,0.2,0.5],coef0=1)",
                                     "laplacian(gamma=logspace(0.01,1,9))*linear"),
                     testing::Bool(), testing::Values(FamilyEvaluation::kAuto, FamilyEvaluation::kDirect)));

}  // namespace
}  // namespace kweave
