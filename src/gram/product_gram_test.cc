#include "gram/product_gram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "kernel/language.h"
#include "kernel/rbf.h"
#include "kweave/error.h"

namespace kweave {
namespace {

constexpr Index kSamples = 83, kFeatures = 7;

std::vector<View> RandomViews() {
  Random random(2);
  std::vector<double> first(kSamples * kFeatures), second(kSamples * 3);
  for (double& value : first) value = 3 + random.Uniform();
  for (double& value : second) value = random.Uniform() - 5;
  return {{"data", MakeDense(first, kSamples, kFeatures), {}}, {"more", MakeDense(second, kSamples, 3), {}}};
}

// One kernel per feature of the first view, two on several of them, one on the second view.
const std::vector<std::string> kSpecs = {"each(rbf(gamma=2))@data", "rbf(gamma=0.5)@data[1..3]",
                                         "rbf(gamma=1)@data[2,5]", "rbf(gamma=0.7)@more"};

std::vector<double> RandomParameters(Index count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> theta(count);
  for (double& value : theta) value = 0.05 + random.Uniform();
  return theta;
}

std::vector<double> RandomVector(Index count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> a(count);
  for (double& value : a) value = random.Uniform() < 0.3 ? 0 : random.Uniform() - 0.5;
  return a;
}

// exp(-sum_m theta_m gamma_m D_m) by plain loops.
double PlainValue(const KernelSet& kernels, const std::vector<View>& views, std::span<const double> theta,
                  Index i, Index j) {
  double exponent = 0;
  for (Index m = 0; m < kernels.size(); ++m) {
    const KernelTerm term = kernels.Term(m);
    const Features& features = views[term.view].features;
    std::vector<double> x(ColumnCount(features)), z(x.size());
    CopyRow(features, i, x);
    CopyRow(features, j, z);
    FeatureSubset subset = kernels.subsets[term.subset];
    if (subset.empty()) {
      subset.resize(x.size());
      std::iota(subset.begin(), subset.end(), 0);
    }
    for (std::int32_t f : subset)
      exponent += theta[m] * term.parameters[kRbfGamma] * (x[f] - z[f]) * (x[f] - z[f]);
  }
  return std::exp(-exponent);
}

class ProductGramTest : public ::testing::TestWithParam<bool> {
 protected:
  const std::vector<View> views_ = RandomViews();
  const KernelSet kernels_ = ParseKernels(kSpecs, views_, 0);
  ThreadPool pool_{2};
  const std::unique_ptr<Gram> gram_ = MakeProductGram(kernels_, views_, GetParam(), pool_);
  const double tolerance_ = GetParam() ? 1e-5 : 1e-12;
};

TEST_P(ProductGramTest, RowsAreThoseOfPlainLoops) {
  std::vector<double> theta = RandomParameters(gram_->kernels(), 4);
  theta[0] = theta[3] = 0;
  const std::vector<Index> rows = {0, 5, kSamples - 1};
  std::vector<double> values(rows.size() * kSamples);
  std::vector<float> rounded(values.size());
  gram_->Learn(theta)->Rows(rows, values.data(), kSamples);
  gram_->Learn(theta)->Rows(rows, rounded.data(), kSamples);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (Index j = 0; j < kSamples; ++j) {
      const double expected = PlainValue(kernels_, views_, theta, rows[r], j);
      EXPECT_NEAR(values[r * kSamples + j] + gram_->Learn(theta)->shift(), expected, tolerance_);
      EXPECT_NEAR(rounded[r * kSamples + j] + gram_->Learn(theta)->shift(), expected, 1e-5);
    }
  }
}

TEST_P(ProductGramTest, OutputsAreSumsOfRows) {
  const std::vector<double> theta = RandomParameters(gram_->kernels(), 5);
  const std::vector<double> a = RandomVector(kSamples, 6);
  std::vector<double> out(kSamples);
  gram_->Expand(a)->Outputs(theta, out);
  for (Index j = 0; j < kSamples; ++j) {
    double expected = 0;
    for (Index i = 0; i < kSamples; ++i) expected += a[i] * PlainValue(kernels_, views_, theta, i, j);
    EXPECT_NEAR(out[j], expected, 30 * tolerance_);
  }
}

double Quadratic(Gram& gram, std::span<const double> theta, std::span<const double> a) {
  std::vector<double> out(a.size());
  gram.Expand(a)->Outputs(theta, out);
  return std::inner_product(a.begin(), a.end(), out.begin(), 0.0);
}

TEST_P(ProductGramTest, DerivativesAreThoseOfCentralDifferences) {
  const std::unique_ptr<Gram> exact = MakeProductGram(kernels_, views_, false, pool_);
  for (const std::uint64_t seed : {7, 8, 9}) {
    const std::vector<double> theta = RandomParameters(gram_->kernels(), seed);
    const std::vector<double> a = RandomVector(kSamples, seed + 10);
    const std::vector<double> gradients =
        gram_->Answer({.a = a, .theta = theta, .wants_outputs = false}).quadratics;
    for (std::size_t m = 0; m < theta.size(); ++m) {
      const double h = 1e-5;
      std::vector<double> above = theta, below = theta;
      above[m] += h;
      below[m] -= h;
      const double difference = (Quadratic(*exact, above, a) - Quadratic(*exact, below, a)) / (2 * h);
      EXPECT_NEAR(gradients[m], difference, (GetParam() ? 1e-4 : 1e-6) * (1 + std::abs(difference))) << m;
    }
  }
}

// Where a parameter is 0 the derivative is that from above.
TEST_P(ProductGramTest, DerivativesAtTheBoundaryAreOneSided) {
  const std::unique_ptr<Gram> exact = MakeProductGram(kernels_, views_, false, pool_);
  std::vector<double> theta(gram_->kernels(), 0.0);
  theta[1] = 0.4;
  const std::vector<double> a = RandomVector(kSamples, 20);
  std::vector<double> gradients(theta.size());
  gradients = gram_->Answer({.a = a, .theta = theta, .wants_outputs = false}).quadratics;
  const double at = Quadratic(*exact, theta, a);
  for (std::size_t m = 0; m < theta.size(); ++m) {
    const double h = 1e-5;
    std::vector<double> once = theta, twice = theta;
    once[m] += h;
    twice[m] += 2 * h;
    const double difference =
        (4 * Quadratic(*exact, once, a) - Quadratic(*exact, twice, a) - 3 * at) / (2 * h);
    EXPECT_NEAR(gradients[m], difference, (GetParam() ? 1e-4 : 1e-6) * (1 + std::abs(difference))) << m;
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, ProductGramTest, ::testing::Bool());

TEST(ProductGram, RefusesOtherKernels) {
  const std::vector<View> views = RandomViews();
  ThreadPool pool(1);
  const KernelSet kernels = ParseKernels(std::vector<std::string>{"rbf@data", "linear@data"}, views, 0);
  EXPECT_THROW(MakeProductGram(kernels, views, false, pool), Error);
}

// Distances come from differences of squared norms: what is left of large ones is rounding, and samples that
// are equal, or near, would be far apart.
TEST(ProductGram, KnowsEqualSamplesHoweverLargeTheirFeaturesAre) {
  std::vector<double> values;
  for (Index i = 0; i < 20; ++i) {
    values.push_back(1e12 * std::sin(static_cast<double>(i / 2)));  // every sample twice, but for
    values.push_back(static_cast<double>(i % 2));                   // one unit
  }
  const std::vector<View> views = {{"data", MakeDense(values, 20, 2), {}}};
  const KernelSet kernels = ParseKernels(std::vector<std::string>{"each(rbf(gamma=1))"}, views, 0);
  ThreadPool pool(1);
  const std::unique_ptr<Gram> gram = MakeProductGram(kernels, views, /*use_float=*/false, pool);
  const std::vector<double> theta{1, 0.5};
  const std::shared_ptr<const LearnedMatrix> learned = gram->Learn(theta);
  std::vector<double> row(20);
  const Index first = 0;
  learned->Rows(std::span(&first, 1), row.data(), 20);
  for (Index j = 0; j < 20; ++j) {
    EXPECT_NEAR(row[j] + learned->shift(), PlainValue(kernels, views, theta, 0, j), 1e-12) << j;
  }
}

}  // namespace
}  // namespace kweave
