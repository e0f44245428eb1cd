#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "kweave/error.h"
#include "kweave/train.h"
#include "tests/support/verified_train.h"

namespace kweave {
namespace {

constexpr Index kSamples = 150, kFeatures = 5;

// Two classes that a circle in the first two features tells apart.
Dataset Circle(std::uint64_t seed) {
  Random random(seed);
  std::vector<double> x(kSamples * kFeatures);
  for (double& value : x) value = 2 * random.Uniform() - 1;
  std::vector<double> labels;
  for (Index i = 0; i < kSamples; ++i) {
    labels.push_back(
        x[i * kFeatures] * x[i * kFeatures] + x[i * kFeatures + 1] * x[i * kFeatures + 1] < 0.6 ? 1 : -1);
  }
  Dataset data;
  data.size = kSamples;
  data.views = {{"data", MakeDense(x, kSamples, kFeatures), {}}};
  data.labels.number = labels;
  for (const double label : labels) data.labels.text.push_back(label > 0 ? "1" : "-1");
  return data;
}

TrainOptions Product(double norm) {
  TrainOptions options;
  options.combine = Combine::kProduct;
  options.kernels = {"each(rbf(gamma=10))"};
  options.norm = norm;
  options.C = 10;
  return options;
}

double Accuracy(const Model& model, const Dataset& data) {
  const Prediction prediction = model.Predict(data, {}, {});
  double right = 0;
  for (Index i = 0; i < kSamples; ++i) right += prediction.decision[i] * data.labels.number[i] > 0;
  return right / static_cast<double>(kSamples);
}

TEST(TrainProduct, PredictsSavesAndLoads) {
  const Dataset data = Circle(1), fresh = Circle(2);
  for (const double norm : {1.0, 1.33}) {
    const Model model = TrainVerified(data, Product(norm), {});
    const Summary& summary = model.summary();
    EXPECT_EQ(summary.status, Status::kConverged);
    ASSERT_TRUE(summary.projected_gradient.has_value());
    EXPECT_LE(*summary.projected_gradient, 1e-3);
    EXPECT_EQ(summary.kernels.size(), 5u);
    EXPECT_GT(Accuracy(model, fresh), 0.85);
    const Model loaded = Model::FromBytes(model.ToBytes());
    EXPECT_EQ(loaded.Predict(fresh, {}, {}).decision, model.Predict(fresh, {}, {}).decision);
    EXPECT_EQ(loaded.summary().projected_gradient, summary.projected_gradient);
    EXPECT_THAT(loaded.Describe(), ::testing::HasSubstr("factors have a width"));
    EXPECT_GT(summary.kernels[0].weight, summary.kernels[3].weight);
  }
}

// The outputs of the model are those that the machine was trained with.
TEST(TrainProduct, DecidesAsItWasTrained) {
  const Dataset data = Circle(1);
  const Model model = TrainVerified(data, Product(2), {});
  const std::vector<double> f = model.Predict(data, {}, {}).decision;
  double losses = 0;
  for (Index i = 0; i < kSamples; ++i) losses += 10 * std::max(0.0, 1 - f[i] * data.labels.number[i]);
  double half_norm = 0;
  for (const auto& [index, beta] : model.support())
    half_norm += 0.5 * beta * (f[index] - model.summary().bias);
  EXPECT_NEAR(losses + half_norm, model.summary().primal, 1e-6 * model.summary().primal);
}

TEST(TrainProduct, RefusesWhatProductsDoNotHave) {
  const Dataset data = Circle(1);
  TrainOptions options = Product(1);
  options.method = "silp";
  EXPECT_THROW(TrainVerified(data, options, {}), Error);
  options = Product(1);
  options.normalize = "trace";
  EXPECT_THROW(TrainVerified(data, options, {}), Error);
  options = Product(1);
  options.kernels = {"linear"};
  EXPECT_THROW(TrainVerified(data, options, {}), Error);
}

}  // namespace
}  // namespace kweave
