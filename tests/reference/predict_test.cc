// Predictions against the certificate: the summary's primal must follow from what the model predicts.
//
// P = 1/2 sum_m theta_m q_m + C sum_i max(0, 1 - y_i f(x_i)), where theta and q stand in the summary and f
// comes from Predict(), so whatever training and predicting compute differently shows.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/constants.h"
#include "kweave/train.h"
#include "tests/support/verified_train.h"

namespace kweave {
namespace {

constexpr Index kFeatures = 5;

/// Two classes on both sides of a noisy curved surface, every feature moved by `offset`.
Dataset MakeSamples(Index size, double offset) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  Dataset data;
  data.size = size;
  std::vector<double> values;
  for (Index i = 0; i < size; ++i) {
    std::vector<double> x(kFeatures);
    for (double& value : x) value = normal(random);
    const double y = std::sin(2 * x[0]) + x[1] * x[2] + 0.3 * normal(random) > 0 ? 1 : -1;
    for (const double value : x) values.push_back(value + offset);
    data.labels.text.push_back(y > 0 ? "1" : "-1");
    data.labels.number.push_back(y);
  }
  data.views.push_back({.name = "data", .features = MakeDense(values, size, kFeatures), .feature_names = {}});
  return data;
}

/// The model after a journey through a file.
Model SaveAndLoad(const Model& model) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("kweave_predict_test_{}", getpid());
  model.Save(path.string());
  Model loaded = Model::Load(path.string());
  std::filesystem::remove(path);
  return loaded;
}

/// Decision values for the training data; positive means label "1".
std::vector<double> Decisions(const Model& model, const Dataset& data) {
  std::vector<double> decision = model.Predict(data, Context{}).decision;
  if (model.classes().back() != "1") {
    for (double& value : decision) value = -value;
  }
  return decision;
}

double PrimalFromPredictions(const Model& model, const Dataset& data, double C) {
  double primal = 0;
  for (const KernelReport& kernel : model.summary().kernels) primal += kernel.weight * kernel.quadratic / 2;
  const std::vector<double> decision = Decisions(model, data);
  for (Index i = 0; i < data.size; ++i) {
    primal += C * std::max(0.0, 1 - data.labels.number[i] * decision[i]);
  }
  return primal;
}

void ExpectPredictionsOfTheCertificate(const Dataset& data, const TrainOptions& options) {
  const Model model = TrainVerified(data, options, Context{});
  EXPECT_LE(model.summary().relative_gap, options.gap);
  EXPECT_NEAR(PrimalFromPredictions(model, data, options.C), model.summary().primal,
              1e-6 * model.summary().primal);
  EXPECT_EQ(Decisions(SaveAndLoad(model), data), Decisions(model, data));
}

TEST(PredictReference, PrimalFollowsFromPredictions) {
  for (const double offset : {0.0, 1e4}) {
    const Dataset data = MakeSamples(400, offset);
    for (const double norm : {1.0, 2.0, kInfinity}) {
      for (const double gap : {1e-3, 1e-6}) {
        SCOPED_TRACE(fmt::format("offset {}, norm {}, gap {}", offset, norm, gap));
        TrainOptions options;
        options.kernels = {"linear", "rbf(gamma=[0.05,0.2,1])", "each(rbf(gamma=1))"};
        options.norm = norm;
        options.gap = gap;
        ExpectPredictionsOfTheCertificate(data, options);
      }
    }
  }
}

TEST(PredictReference, PrimalFollowsFromPredictionsOnManySamples) {
  for (const double offset : {0.0, 1e4}) {
    SCOPED_TRACE(fmt::format("offset {}", offset));
    TrainOptions options;
    options.kernels = {"linear", "rbf(gamma=[0.05,0.2])"};
    options.C = 0.1;
    ExpectPredictionsOfTheCertificate(MakeSamples(4200, offset), options);
  }
}

/// At p = infinity theta is fixed, and P is strongly convex in w: ||w - w*||^2 <= 2 gap. With M Gaussians the
/// images of two samples are at most sqrt(2 M) apart, which bounds how far differences of outputs can differ.
TEST(PredictReference, FloatAgreesWithDoubleWithinTheGap) {
  const Index size = 4200;
  TrainOptions options;
  options.kernels = {"rbf(gamma=[0.05,0.2])"};
  options.normalize = "none";
  options.norm = kInfinity;
  options.C = 0.1;
  options.gap = 1e-6;
  const Dataset plain = MakeSamples(size, 0);
  const Model exact = TrainVerified(plain, options, Context{});
  const std::vector<double> exact_decisions = Decisions(exact, plain);
  for (const double offset : {0.0, 1e4}) {
    const Dataset data = MakeSamples(size, offset);
    for (const double gap : {1e-3, 1e-4}) {
      SCOPED_TRACE(fmt::format("offset {}, gap {}", offset, gap));
      options.gap = gap;
      const Model model = TrainVerified(data, options, Context{});
      std::vector<double> difference = Decisions(SaveAndLoad(model), data);
      for (Index i = 0; i < size; ++i) difference[i] -= exact_decisions[i];
      const auto [low, high] = std::minmax_element(difference.begin(), difference.end());
      const double distance = std::sqrt(2 * model.summary().gap) + std::sqrt(2 * exact.summary().gap);
      EXPECT_LE(*high - *low, distance * std::sqrt(2.0 * 2.0));
    }
  }
}

}  // namespace
}  // namespace kweave
