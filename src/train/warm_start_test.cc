#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "kweave/error.h"
#include "kweave/train.h"
#include "tests/support/verified_train.h"

namespace kweave {
namespace {

// Two noisy classes in the plane.
Dataset Example(Index samples) {
  Random random(7);
  std::vector<double> values;
  Dataset data;
  for (Index i = 0; i < samples; ++i) {
    const double x = 2 * random.Uniform() - 1, y = 2 * random.Uniform() - 1;
    values.push_back(x);
    values.push_back(y);
    const double label = x * y + 0.3 * (random.Uniform() - 0.5) > 0 ? 1 : 0;
    data.labels.text.push_back(label > 0 ? "1" : "0");
    data.labels.number.push_back(label);
  }
  data.views.push_back({"data", MakeDense(std::move(values), samples, 2), {}});
  data.size = samples;
  return data;
}

TEST(WarmStart, MeetsTheColdAnswerSooner) {
  const Dataset data = Example(300);
  TrainOptions options;
  options.gap = 1e-5;
  for (double norm : {1.0, 1.5, 2.0, std::numeric_limits<double>::infinity()}) {
    options.norm = norm;
    options.C = 1;
    const Model first = TrainVerified(data, options, {});
    options.C = 1.5;
    const Model cold = TrainVerified(data, options, {});
    const Model warm = TrainVerified(data, options, {}, &first);
    EXPECT_LE(warm.summary().relative_gap, 1e-5);
    EXPECT_NEAR(warm.summary().primal, cold.summary().primal, 2e-5 * cold.summary().primal);
    const Model again = TrainVerified(data, options, {}, &cold);
    EXPECT_LE(again.summary().iterations, cold.summary().iterations);
    EXPECT_NEAR(again.summary().primal, cold.summary().primal, 2e-5 * cold.summary().primal);
  }
}

TEST(WarmStart, KernelsAreMatchedByName) {
  const Dataset data = Example(100);
  TrainOptions options;
  options.kernels = {"rbf(gamma=1)", "linear"};
  const Model first = TrainVerified(data, options, {});
  options.kernels = {"linear", "rbf(gamma=3)", "rbf(gamma=1)"};
  const Model warm = TrainVerified(data, options, {}, &first);
  EXPECT_LE(warm.summary().relative_gap, options.gap);
  EXPECT_EQ(warm.summary().kernels.size(), 3);
}

TEST(WarmStart, RefusesAModelOfOtherSamples) {
  const Model first = TrainVerified(Example(50), TrainOptions(), {});
  EXPECT_THROW(TrainVerified(Example(60), TrainOptions(), {}, &first), Error);
}

TEST(Train, KeepsSamplesThatWereNamed) {
  const Dataset data = Example(80);
  TrainOptions options;
  options.kernels = {"rbf(gamma=1)", "linear"};
  for (Index i = 0; i < 80; ++i) options.keep_samples.push_back(i);
  const Model model = TrainVerified(data, options, {});
  EXPECT_EQ(model.stored_samples().size(), 80);
  EXPECT_LT(model.support().size(), 80);
  // The learned kernel makes the decision, alone and split by kernel.
  const std::vector<double> kernel = model.LearnedKernel(data, {});
  const std::vector<double> parts = model.PredictByKernel(data, {});
  const Prediction prediction = model.Predict(data, {});
  const std::size_t active = model.active_kernels().size();
  for (Index i = 0; i < 80; ++i) {
    double value = model.summary().bias, sum = model.summary().bias;
    for (const auto& [s, factor] : model.support()) value += factor * kernel[i * 80 + s];
    for (std::size_t m = 0; m < active; ++m) sum += parts[i * active + m];
    EXPECT_NEAR(value, prediction.decision[i], 1e-9);
    EXPECT_NEAR(sum, prediction.decision[i], 1e-9);
    EXPECT_NEAR(kernel[i * 80 + 3], kernel[3 * 80 + i], 1e-12);
  }
  options.keep_samples = {80};
  EXPECT_THROW(TrainVerified(data, options, {}), Error);
}

TEST(Train, ReadsKernelValuesInMemory) {
  const Dataset data = Example(60);
  TrainOptions options;
  options.kernels = {"linear", "linear*linear"};
  options.gap = 1e-6;
  const Model reference = TrainVerified(data, options, {});

  std::vector<double> linear(60 * 60);
  std::vector<double> x(2), z(2);
  for (Index i = 0; i < 60; ++i) {
    for (Index j = 0; j < 60; ++j) {
      CopyRow(data.views[0].features, i, x);
      CopyRow(data.views[0].features, j, z);
      linear[i * 60 + j] = x[0] * z[0] + x[1] * z[1];
    }
  }
  Dataset grams;
  grams.size = 60;
  grams.labels = data.labels;
  grams.matrices.push_back({"K", DenseRows<double>{linear.data(), 60, 60, 60, {}}});
  options.kernels = {"precomputed(file=K)", "precomputed(file=K)*precomputed(file=K)"};
  const Model model = TrainVerified(grams, options, {});
  EXPECT_NEAR(model.summary().primal, reference.summary().primal, 2e-6 * reference.summary().primal);

  // Prediction takes columns of all training samples or of the stored ones.
  const std::vector<double> all = model.Predict(grams, {}).decision;
  grams.matrices[0].row_indices = {5, 7};
  grams.matrices[0].column_indices = model.stored_samples();
  grams.size = 2;
  const std::vector<double> two = model.Predict(grams, {}).decision;
  EXPECT_EQ(two, (std::vector<double>{all[5], all[7]}));
  grams.matrices.clear();
  EXPECT_THROW(model.Predict(grams, {}), Error);
}

}  // namespace
}  // namespace kweave
