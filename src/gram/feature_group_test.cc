#include "gram/feature_group.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "base/random.h"
#include "gram/feature_table.h"
#include "gram/make_gram.h"
#include "kernel/kernel_table.h"
#include "kernel/language.h"
#include "kernel/poly.h"
#include "kernel/rbf.h"

namespace kweave {
namespace {

double Value(const FeatureTable& table, std::size_t m, double x, double z) {
  const FeatureTable::Member& member = table.members[m];
  const double s = std::acos((x - table.center) / table.half), t = std::acos((z - table.center) / table.half);
  double sum = table.shift;
  for (Index a = 0; a < member.terms; ++a) {
    for (Index b = 0; b < member.terms; ++b)
      sum += (*member.matrix)[a * member.terms + b] * std::cos(a * s) * std::cos(b * t);
  }
  return sum;
}

std::optional<FeatureTable> FitFeatureTable(const KernelKind& kind, std::span<const KernelParameters> members,
                                            double low, double high, double relative_error, Index most_terms,
                                            Index most_entries, FeatureMatrices& matrices) {
  std::optional<FeatureTable> table =
      MeasureFeatureTable(kind, members, low, high, relative_error, most_terms, most_entries, matrices);
  if (table) FillFeatureTable(kind, members, *table, matrices);
  return table;
}

TEST(FeatureTable, StaysWithinItsBoundEverywhere) {
  std::vector<KernelParameters> widths;
  for (double gamma : {1e-9, 1e-3, 0.1, 1.0, 20.0}) widths.push_back({gamma});
  for (double relative_error : {1e-6, 1e-13}) {
    FeatureMatrices matrices;
    const auto table = FitFeatureTable(kRbf, widths, -2, 1.5, relative_error, 256, 1 << 20, matrices);
    ASSERT_TRUE(table.has_value());
    for (std::size_t m = 0; m < widths.size(); ++m) {
      EXPECT_LE(table->members[m].error, relative_error);
      for (int i = 0; i <= 40; ++i) {
        for (int j = 0; j <= 40; ++j) {
          const double x = -2 + 3.5 * i / 40, z = -2 + 3.5 * j / 40;
          ASSERT_NEAR(Value(*table, m, x, z), std::exp(-widths[m][kRbfGamma] * (x - z) * (x - z)),
                      table->members[m].error + 3e-14)
              << "gamma " << widths[m][kRbfGamma] << " at " << x << ", " << z;
        }
      }
    }
  }
}

TEST(FeatureTable, IsExactForPolynomials) {
  const std::vector<KernelParameters> powers = {{1, 1, 1}, {3, 0.5, 2}, {4, 2, 0}};
  FeatureMatrices matrices;
  const auto table = FitFeatureTable(kPoly, powers, 0.5, 2, 1e-13, 256, 1 << 20, matrices);
  ASSERT_TRUE(table.has_value());
  for (std::size_t m = 0; m < powers.size(); ++m) {
    EXPECT_EQ(table->members[m].error, 0);
    const double want = ShapeValue(kPowerShape, powers[m], 0.7 * 1.9);
    EXPECT_NEAR(Value(*table, m, 0.7, 1.9), want, 1e-12 * want);
  }
}

TEST(FeatureTable, SaysWhereItWouldBeTooLong) {
  FeatureMatrices matrices;
  const std::vector<KernelParameters> narrow = {{1e4}};
  EXPECT_FALSE(FitFeatureTable(kRbf, narrow, 0, 1, 1e-13, 64, 1 << 20, matrices).has_value());
  const std::vector<KernelParameters> many(100, {1});
  EXPECT_FALSE(FitFeatureTable(kRbf, many, 0, 1, 1e-13, 64, 1000, matrices).has_value());
}

// Kernels on single features, where the sums over samples stand for matrices of all pairs, against every pair
// by its formula.
class FeatureGroupTest : public testing::TestWithParam<bool> {
 protected:
  // Kernels with their normalisation.
  struct Fitted {
    Fitted(const std::vector<std::string>& texts, std::span<const View> train, Normalizer normalizer,
           ThreadPool& pool)
        : kernels(ParseKernels(texts, train, 0)),
          normalization(FitNormalization(kernels, train, std::vector{normalizer}, pool)) {}
    KernelSet kernels;
    Normalization normalization;
  };
  static GramOptions Options() { return {GetParam(), FamilyEvaluation::kAuto}; }
  static GramOptions ByFormula() { return {false, FamilyEvaluation::kDirect}; }

  static View MakeView(Index n, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values(n * 3);
    for (Index i = 0; i < n; ++i) {
      values[3 * i] = 5 + random.Uniform();
      values[3 * i + 1] = 4 * random.Uniform() - 2;
      values[3 * i + 2] = random.Uniform() < 0.9 ? 0 : 1;
    }
    return {"data", MakeDense(values, n, 3), {}};
  }
};

TEST_P(FeatureGroupTest, AgreesWithEveryPairByItsFormula) {
  constexpr Index kTrain = 500, kNew = 40;
  const std::vector<View> train = {MakeView(kTrain, 1)}, fresh = {MakeView(kNew, 2)};
  const std::vector<std::string> texts = {"each(rbf(gamma=[0.001,0.1,1,5,9,20]))", "each(poly(degree=1..3))",
                                          "rbf(gamma=2)"};
  ThreadPool pool(2);
  const auto& [kernels, normalization] = Fitted(texts, train, Normalizer::kMultiplicative, pool);
  const auto gram = MakeGram(kernels, train, normalization, Options(), pool);
  const auto cross = MakeCrossGram(kernels, train, fresh, normalization, {}, Options(), pool);
  const auto plain = MakeGram(kernels, train, normalization, ByFormula(), pool);
  const auto plain_cross = MakeCrossGram(kernels, train, fresh, normalization, {}, ByFormula(), pool);

  Random random(3);
  std::vector<double> a(kTrain), b(kTrain), theta(kernels.size());
  for (double& value : a) value = random.Uniform() < 0.5 ? 0 : random.Uniform() - 0.5;
  for (double& value : b) value = random.Uniform() - 0.5;
  for (double& value : theta) value = random.Uniform();
  const double tolerance = GetParam() ? 1e-5 : 1e-11;  // the last kernel has float pairs
  const auto expansion = gram->Expand(a), want = plain->Expand(a);
  const auto compare = [&](std::span<const double> found, std::span<const double> right) {
    for (std::size_t m = 0; m < found.size(); ++m)
      EXPECT_NEAR(found[m], right[m], tolerance * std::max(1.0, std::abs(right[m]))) << m;
  };
  std::vector<double> found(kernels.size()), right(kernels.size());
  expansion->Quadratics(found), want->Quadratics(right);
  compare(found, right);
  expansion->Products(b, found), want->Products(b, right);
  compare(found, right);
  found.resize(kTrain), right.resize(kTrain);
  expansion->Outputs(theta, found), want->Outputs(theta, right);
  compare(found, right);
  expansion->MoveTo(b), want->MoveTo(b);
  expansion->Outputs(theta, found), want->Outputs(theta, right);
  compare(found, right);
  found.resize(kNew), right.resize(kNew);
  cross->Expand(a)->Outputs(theta, found), plain_cross->Expand(a)->Outputs(theta, right);
  compare(found, right);
}

// Rows of all features together: ranges of their own, a constant feature, widths from so wide that all values
// are close to 1 to so narrow that rows come from distances, weights from large to none.
TEST_P(FeatureGroupTest, RowsAgreeWithEveryPairByItsFormula) {
  constexpr Index kSamples = 300, kFeatures = 5;
  Random random(3);
  std::vector<double> values;
  for (Index i = 0; i < kSamples; ++i) {
    values.insert(values.end(), {random.Uniform(), 2 * random.Uniform() - 1, 7 + 3 * random.Uniform(), 2.5,
                                 std::floor(4 * random.Uniform())});
  }
  const std::vector<View> views{{"x", MakeDense(values, kSamples, kFeatures), {}}};
  ThreadPool pool(2);
  const std::vector<std::string> specs = {"each(rbf(gamma=[1e-7,1e-3,0.1,1,4]))", "each(poly(degree=1..3))",
                                          "rbf(gamma=[1,3000])@x[2]"};
  const KernelSet kernels = ParseKernels(specs, views, 0);
  const Normalization none = FitNormalization(kernels, views, {}, pool);
  const auto plain = MakeGram(kernels, views, none, {false, FamilyEvaluation::kDirect}, pool);
  const auto gram = MakeGram(kernels, views, none, {GetParam(), FamilyEvaluation::kAuto}, pool);
  std::vector<Index> rows(kSamples);
  std::iota(rows.begin(), rows.end(), Index{0});
  std::vector<double> want(kSamples * kSamples), got(kSamples * kSamples), diagonal(kSamples);
  for (const double least : {0.0, 0.3, 0.9, 1.0}) {  // the last: only the kernel that is almost 1 everywhere
    std::vector<double> theta(kernels.size(), 0.0);
    for (double& weight : theta) {
      const double drawn = random.Uniform();
      weight = drawn < least ? 0 : std::pow(drawn, 20);
    }
    if (least == 1) theta[0] = 1;
    EXPECT_NEAR(gram->Learn(theta)->shift(), plain->Learn(theta)->shift(), 1e-9);
    plain->Learn(theta)->Rows(rows, want.data(), kSamples);
    gram->Learn(theta)->Rows(rows, got.data(), kSamples);
    gram->Learn(theta)->Diagonal(diagonal);
    double largest = 0;
    for (const double value : want) largest = std::max(largest, std::abs(value));
    const double tolerance = (GetParam() ? 1e-6 : 1e-13) * largest;
    for (Index i = 0; i < kSamples; ++i) {
      for (Index j = 0; j < kSamples; ++j)
        ASSERT_NEAR(got[i * kSamples + j], want[i * kSamples + j], tolerance)
            << least << ' ' << i << ' ' << j;
      ASSERT_NEAR(diagonal[i], want[i * kSamples + i], tolerance);
    }
  }
}

// One new sample far away must not cost the others their digits.
TEST_P(FeatureGroupTest, PredictsBesideAnOutlier) {
  constexpr Index kTrain = 100, kNew = 30;
  const std::vector<View> train = {MakeView(kTrain, 1)};
  std::vector<double> values(kNew * 3, 0.5);
  values[0] = values[1] = values[2] = 1e5;
  const std::vector<View> fresh = {{"data", MakeDense(values, kNew, 3), {}}};
  const std::vector<std::string> texts = {"each(poly(degree=1..5))"};
  ThreadPool pool(1);
  const auto& [kernels, normalization] = Fitted(texts, train, Normalizer::kMultiplicative, pool);
  const auto cross = MakeCrossGram(kernels, train, fresh, normalization, {}, Options(), pool);
  const auto plain = MakeCrossGram(kernels, train, fresh, normalization, {}, ByFormula(), pool);
  const std::vector<double> a(kTrain, 0.01), theta(kernels.size(), 1.0);
  std::vector<double> found(kNew), want(kNew);
  cross->Expand(a)->Outputs(theta, found), plain->Expand(a)->Outputs(theta, want);
  for (Index j = 0; j < kNew; ++j)
    EXPECT_NEAR(found[j], want[j], (GetParam() ? 1e-5 : 1e-9) * std::abs(want[j])) << j;
}

// The table of a constant feature is all rounding but for one entry.
TEST_P(FeatureGroupTest, RowsOfConstantFeaturesAreFinite) {
  constexpr Index kTrain = 200;
  const std::vector<View> train = {{"data", MakeDense(std::vector<double>(kTrain, 1234.5), kTrain, 1), {}}};
  const std::vector<std::string> texts = {"poly(degree=1..3)", "rbf(gamma=1)"};
  ThreadPool pool(1);
  const auto& [kernels, normalization] = Fitted(texts, train, Normalizer::kTrace, pool);
  const auto gram = MakeGram(kernels, train, normalization, Options(), pool);
  const std::vector<Index> rows = {0, 7};
  std::vector<double> out(2 * kTrain);
  for (Index m = 0; m < kernels.size(); ++m) {
    std::vector<double> theta(kernels.size(), 0.0);
    theta[m] = 1;
    gram->Learn(theta)->Rows(rows, out.data(), kTrain);
    for (const double value : out) ASSERT_NEAR(value + gram->Learn(theta)->shift(), 1, 1e-5) << m;
  }
}

INSTANTIATE_TEST_SUITE_P(BothPrecisions, FeatureGroupTest, testing::Bool());

}  // namespace
}  // namespace kweave
