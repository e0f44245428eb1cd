#include "kweave/kernel_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "kweave/error.h"

namespace kweave {
namespace {

constexpr Index kSamples = 50, kFeatures = 3;

SampleTable Table() {
  Random random(6);
  std::vector<double> values(kSamples * kFeatures);
  for (double& value : values) value = 2 * random.Uniform() - 1;
  return {values, kFeatures};
}

// theta_0 exp(-...) (mixture of polynomials) + mixture of polynomials.
KernelFunctionPointer SumOfProducts() {
  const auto gaussian = std::make_shared<GaussianFunction>(Table());
  const auto polynomial = std::make_shared<PolynomialFunction>(Table(), 2);
  const auto product = std::make_shared<ProductFunction>(
      std::vector<KernelFunctionPointer>{std::make_shared<WeightedFunction>(gaussian), polynomial});
  return std::make_shared<SumFunction>(std::vector<KernelFunctionPointer>{product, polynomial});
}

TEST(KernelFunctions, DerivativesAreThoseOfDifferences) {
  const KernelFunctionPointer functions[] = {
      std::make_shared<GaussianFunction>(Table()), std::make_shared<PolynomialFunction>(Table(), 3),
      std::make_shared<WeightedFunction>(std::make_shared<GaussianFunction>(Table())), SumOfProducts()};
  Random random(7);
  for (const KernelFunctionPointer& function : functions) {
    std::vector<double> theta(static_cast<std::size_t>(function->parameters()));
    for (double& value : theta) value = 0.1 + random.Uniform();
    EXPECT_LT(CheckGradient(*function, theta), 1e-6);
    for (double& value : theta) {
      const double kept = std::exchange(value, 0.0);  // at the border, across which all of them are smooth
      EXPECT_LT(CheckGradient(*function, theta), 1e-6);
      value = kept;
    }
  }
  EXPECT_LT(CheckGradient(SimplexRegularizer(0.3), std::vector<double>{0.2, 0.5, 0.3}), 1e-6);
}

TEST(KernelFunctions, ASumOfProductsIsLearnedOnTheSimplex) {
  const SampleTable table = Table();
  std::vector<double> labels;
  for (Index i = 0; i < kSamples; ++i) labels.push_back(std::abs(table.row(i)[0]) < 0.5 ? 1 : -1);
  const LearnedKernel learned =
      LearnKernel(*SumOfProducts(), SimplexRegularizer(), labels, {.C = 10, .gap = 5e-3});
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_NEAR(std::accumulate(learned.theta.begin(), learned.theta.end(), 0.0), 1, 1e-9);
}

TEST(KernelFunctions, RefuseWhatDoesNotFit) {
  EXPECT_THROW(SampleTable({1, 2, 3}, 2), Error);
  EXPECT_THROW(SumFunction({}), Error);
  const auto few = std::make_shared<GaussianFunction>(SampleTable({1, 2}, 1));
  EXPECT_THROW(ProductFunction({few, std::make_shared<GaussianFunction>(Table())}), Error);
}

}  // namespace
}  // namespace kweave
