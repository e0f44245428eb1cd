// Penalties on the weights, from the options to certified answers.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "base/random.h"
#include "base/threads.h"
#include "gram/make_gram.h"
#include "gram/product_gram.h"
#include "kernel/language.h"
#include "kweave/error.h"
#include "kweave/train.h"
#include "regularizer/lp_norm.h"
#include "tests/support/verified_train.h"
#include "weights/models/log_determinant.h"

namespace kweave {
namespace {

constexpr Index kSamples = 60, kFeatures = 4;

Dataset Circle() {
  Random random(4);
  std::vector<double> x(kSamples * kFeatures);
  for (double& value : x) value = 2 * random.Uniform() - 1;
  Dataset data;
  data.size = kSamples;
  data.views = {{"data", MakeDense(x, kSamples, kFeatures), {}}};
  for (Index i = 0; i < kSamples; ++i) {
    const double* row = x.data() + i * kFeatures;
    data.labels.number.push_back(row[0] * row[0] + row[1] * row[1] < 0.6 ? 1 : -1);
    data.labels.text.push_back(data.labels.number.back() > 0 ? "1" : "-1");
  }
  return data;
}

TrainOptions Penalty(const std::string& form, double mu) {
  TrainOptions options;
  options.kernels = {"each(rbf(gamma=[0.3,3]))", "linear"};
  options.regularizer = form;
  options.penalty = mu;
  if (form == "mixed") options.groups = "spec";
  return options;
}

TEST(Penalties, AllMethodsMeetAtCertifiedOptima) {
  const Dataset data = Circle();
  for (const double mu : {0.1, 1.0}) {
    for (const std::string form : {"entropy", "mixed", "logdet"}) {
      SCOPED_TRACE(form);
      TrainOptions options = Penalty(form, form == "logdet" ? 0.1 * mu : mu);
      const Summary first = TrainVerified(data, options, {}).summary();
      options.method = form == "logdet" ? "pgd" : "cutting-plane";
      const Summary second = TrainVerified(data, options, {}).summary();
      for (const Summary& summary : {first, second}) {
        EXPECT_EQ(summary.status, Status::kConverged);
        EXPECT_LE(summary.relative_gap, 1e-3);
      }
      EXPECT_NEAR(first.primal, second.primal, 1e-3 * std::abs(first.primal));
    }
  }
}

TEST(Penalties, EntropyKeepsWeightsNearEachOther) {
  const Dataset data = Circle();
  double last = 1;
  for (const double mu : {0.01, 1.0, 1000.0}) {
    double sum = 0, largest = 0;
    TrainOptions options = Penalty("entropy", mu);
    options.gap = 1e-6;  // at 1e-3 weights still differ by more than the penalty makes them
    const Model model = TrainVerified(data, options, {});
    for (const KernelReport& kernel : model.summary().kernels) {
      sum += kernel.weight;
      largest = std::max(largest, kernel.weight);
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_LT(largest, last);
    last = largest;
  }
  EXPECT_NEAR(last, 1.0 / 9, 0.01);
}

TEST(Penalties, AreThereForProductsToo) {
  const Dataset data = Circle();
  TrainOptions options = Penalty("logdet", 0.05);
  options.combine = Combine::kProduct;
  options.kernels = {"each(rbf(gamma=5))"};
  const Summary summary = TrainVerified(data, options, {}).summary();
  EXPECT_EQ(summary.status, Status::kConverged);
  EXPECT_LE(summary.projected_gradient.value(), 1e-3);
  options.regularizer = "entropy";
  EXPECT_LE(TrainVerified(data, options, {}).summary().projected_gradient.value(), 1e-3);
}

TEST(Penalties, RefuseWhatDoesNotGoTogether) {
  for (const std::string form : {"entropy", "logdet"}) {
    EXPECT_THROW(Validate(Penalty(form, 0)), Error);
    TrainOptions options = Penalty(form, 1);
    options.block_norm = 1.5;
    EXPECT_THROW(Validate(options), Error);
  }
  EXPECT_THROW(Validate(Penalty("elastic", 1)), Error);
  TrainOptions options = Penalty("logdet", 1);
  options.method = "level";
  EXPECT_THROW(Validate(options), Error);
}

template <class Matrix>
void ExpectGradient(const Matrix& matrix, std::size_t kernels) {
  const LogDeterminant penalty(LpConstraint(2), 0.3, 1, matrix);
  Random random(2);
  std::vector<double> theta(kernels), gradient(kernels);
  for (double& value : theta) value = 0.1 + random.Uniform();
  theta[1] = 0;  // smooth there too: one-sided differences of second order
  penalty.Gradient(theta, gradient);
  for (std::size_t m = 0; m < kernels; ++m) {
    const double kept = theta[m], h = 2e-5;
    const auto value_at = [&](double value) {
      theta[m] = value;
      const double found = penalty.Value(theta);
      theta[m] = kept;
      return found;
    };
    const double difference = m == 1 ? (-3 * value_at(0) + 4 * value_at(h) - value_at(2 * h)) / (2 * h)
                                     : (value_at(kept + h) - value_at(kept - h)) / (2 * h);
    EXPECT_NEAR(difference, gradient[m], 1e-6 * (1 + std::abs(gradient[m]))) << m;
  }
}

TEST(LogDeterminant, DerivativesAreThoseOfDifferences) {
  const Dataset data = Circle();
  ThreadPool pool(1);
  const std::vector<std::string> sum = {"each(rbf(gamma=3))", "linear"}, product = {"each(rbf(gamma=3))"};
  const KernelSet kernels = ParseKernels(sum, data.views, 0), factors = ParseKernels(product, data.views, 0);
  const Normalization normalization = FitNormalization(kernels, data.views, ParseNormalizers("none"), pool);
  const std::unique_ptr<Gram> gram = MakeGram(kernels, data.views, normalization, {}, pool);
  ExpectGradient(MatrixOf(*gram), 5);
  const std::unique_ptr<Gram> parametric = MakeProductGram(factors, data.views, false, pool);
  ExpectGradient(MatrixOf(*parametric), 4);
}

}  // namespace
}  // namespace kweave
