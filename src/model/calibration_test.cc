#include "model/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace kweave {
namespace {

ModelContent TwoClasses() {
  ModelContent content;
  content.classes = {"a", "b"};
  content.machines.resize(1);
  return content;
}

ModelContent ThreeClasses(Multiclass multiclass) {
  ModelContent content;
  content.classes = {"a", "b", "c"};
  content.multiclass = multiclass;
  const bool is_of_pairs = multiclass == Multiclass::kOneAgainstOne;
  for (Index u = 0; u < 3; ++u)
    content.machines.push_back(
        {.theta = {}, .beta = {}, .bias = 0, .output = u, .against = is_of_pairs ? (u + 1) % 3 : -1});
  return content;
}

TEST(Calibration, FindsTheSlopesThatSamplesWereDrawnWith) {
  Random random(1);
  CalibrationSamples samples;
  for (int i = 0; i < 20000; ++i) {
    const double f = 4 * random.Uniform() - 2, slope = f > 0 ? 3 : 0.5;
    samples.values.push_back(f);
    samples.classes.push_back(random.Uniform() < 1 / (1 + std::exp(-slope * f)) ? 1 : 0);
    samples.weights.push_back(1);
  }
  ModelContent content = TwoClasses();
  content.calibration = FitCalibration(content, samples);
  ASSERT_EQ(content.calibration.size(), CalibrationSize(content));
  EXPECT_NEAR(content.calibration[0], 0.5, 0.05);
  EXPECT_NEAR(content.calibration[1], 3, 0.2);
  const double f = 1, slope = content.calibration[1];
  EXPECT_NEAR(CalibratedProbabilities(content, {&f, 1}, {&f, 1})[0], 1 / (1 + std::exp(-slope)), 1e-12);
}

TEST(Calibration, SeparableClassesKeepAFiniteSlope) {
  const CalibrationSamples samples{{-1, -2, 1, 2}, {0, 0, 1, 1}, {1, 1, 1, 1}};
  for (const double slope : FitCalibration(TwoClasses(), samples)) {
    EXPECT_GT(slope, 0.1);
    EXPECT_LT(slope, 10);
  }
}

TEST(Calibration, FindsTheTemperatureOfSeveralClasses) {
  Random random(2);
  CalibrationSamples samples;
  ModelContent content = ThreeClasses(Multiclass::kOneAgainstRest);
  for (int i = 0; i < 20000; ++i) {
    double p[3], sum = 0;
    for (double& value : p) {
      const double f = 2 * random.Uniform() - 1;
      samples.values.push_back(f);
      sum += value = std::exp(2.5 * f);
    }
    double at = random.Uniform() * sum;
    Index u = 0;
    while (u < 2 && at > p[u]) at -= p[u++];
    samples.classes.push_back(u);
    samples.weights.push_back(1);
  }
  EXPECT_NEAR(FitCalibration(content, samples)[0], 2.5, 0.1);
}

// Pairs that agree with some probabilities, r_uv = p_u / (p_u + p_v), are coupled to these.
TEST(Calibration, CouplesPairsThatAgree) {
  ModelContent content = ThreeClasses(Multiclass::kOneAgainstOne);
  const double p[] = {0.6, 0.3, 0.1};
  std::vector<double> values;
  for (const ModelMachine& machine : content.machines)
    values.push_back(std::log(p[machine.output] / p[machine.against]));
  content.calibration = {1, 1};
  const double decision[] = {2, 1, 0};
  const std::vector<double> found = CalibratedProbabilities(content, decision, values);
  for (std::size_t u = 0; u < 3; ++u) EXPECT_NEAR(found[u], p[u], 1e-9);
  // The class that is decided for gets the largest.
  const double other[] = {0, 1, 2};
  EXPECT_NEAR(CalibratedProbabilities(content, other, values)[2], 0.6, 1e-9);
}

}  // namespace
}  // namespace kweave
