#include "weights/methods/gradient_methods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "regularizer/lp_projection.h"
#include "weights/baselines/spg.h"
#include "weights/methods/projected_quasi_newton.h"

namespace kweave {
namespace {

// 1/2 sum_m h_m (theta_m - c_m)^2 with the curvatures h from 1 to 100.
struct Quadratic {
  std::vector<double> center;

  double Value(const std::vector<double>& theta) const {
    double sum = 0;
    for (std::size_t m = 0; m < theta.size(); ++m) {
      sum += 0.5 * Curvature(m) * (theta[m] - center[m]) * (theta[m] - center[m]);
    }
    return sum;
  }
  std::vector<double> Gradient(const std::vector<double>& theta) const {
    std::vector<double> gradient(theta.size());
    for (std::size_t m = 0; m < theta.size(); ++m) gradient[m] = Curvature(m) * (theta[m] - center[m]);
    return gradient;
  }
  static double Curvature(std::size_t m) { return std::pow(10, static_cast<double>(m % 3)); }
};

const Quadratic kQuadratic{{0.9, -0.2, 0.7, 0.05, 0.4, 1.5}};

Projection OntoBall(double p) {
  return
      [p](std::span<double> theta, std::span<const double> scales) { ProjectOntoLpBall(p, theta, scales); };
}

struct Path {
  std::vector<double> theta;
  double value;
  int evaluations;
  double largest_rise;  // between two accepted points
};

Path Minimize(GradientSteps& steps, int most) {
  std::vector<double> theta(kQuadratic.center.size(), 0.1);
  Path run{theta, kQuadratic.Value(theta), 1, 0};
  double accepted = run.value;
  for (; run.evaluations < most; ++run.evaluations) {
    const std::vector<double> at = theta;
    steps.Next(kQuadratic.Value(theta), kQuadratic.Gradient(theta), theta);
    if (steps.step() == 1) {
      run.largest_rise = std::max(run.largest_rise, kQuadratic.Value(at) - accepted);
      accepted = kQuadratic.Value(at);
    }
    if (kQuadratic.Value(theta) < run.value)
      run = {theta, kQuadratic.Value(theta), run.evaluations, run.largest_rise};
  }
  return run;
}

Path Minimize(const SpgParts& parts, double p, int most) {
  SpectralGradient steps(parts, OntoBall(p));
  return Minimize(steps, most);
}

// At the minimum theta is the projection of any point that its negative gradient leads to.
double Distance(const std::vector<double>& theta, double p) {
  std::vector<double> projected = theta;
  const std::vector<double> gradient = kQuadratic.Gradient(theta);
  for (std::size_t m = 0; m < theta.size(); ++m) projected[m] -= gradient[m];
  ProjectOntoLpBall(p, projected);
  double distance = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    distance = std::max(distance, std::abs(projected[m] - theta[m]));
  }
  return distance;
}

TEST(SpectralGradient, FindsTheMinimumWithEveryLineSearch) {
  for (const double p : {1.0, 1.5, 2.0}) {
    for (const LineSearch search : {LineSearch::kLast, LineSearch::kAverage, LineSearch::kMaximum}) {
      const Path run = Minimize({true, search}, p, 300);
      EXPECT_LT(Distance(run.theta, p), 1e-6) << p << " " << static_cast<int>(search);
    }
  }
}

TEST(SpectralGradient, PlainStepsFindItTooButSlowly) {
  const Path plain = Minimize({false, LineSearch::kLast}, 1.5, 4000);
  EXPECT_LT(Distance(plain.theta, 1.5), 1e-5);
  const Path spectral = Minimize({true, LineSearch::kAverage}, 1.5, 300);
  EXPECT_LT(5 * spectral.evaluations, plain.evaluations);
}

TEST(SpectralGradient, ArmijosRuleNeverRises) {
  EXPECT_LE(Minimize({true, LineSearch::kLast}, 1.5, 200).largest_rise, 0);
}

TEST(ProjectedQuasiNewton, FindsTheMinimumScaledOrNot) {
  for (const double p : {1.0, 1.5, 2.0}) {
    for (const StepScales& scales : {StepScales{}, StepScales{0.02, 0}, StepScales{0.02, 10}}) {
      ProjectedQuasiNewton steps(scales, OntoBall(p));
      EXPECT_LT(Distance(Minimize(steps, 100).theta, p), 1e-6)
          << p << " " << scales.least << " " << scales.plain_steps;
    }
  }
}

TEST(GradientMethods, AutoLearnsCurvatures) {
  EXPECT_EQ(FindGradientMethod("auto")->name, "projected-quasi-newton");
  EXPECT_EQ(FindGradientMethod("silp"), nullptr);
  EXPECT_EQ(GradientMethodNames(), "auto, pgd, pgd+n, pgd+n+s, pgd+s, projected-quasi-newton, spg, spg-max");
}

TEST(SpectralGradient, ShortensARefusedStepByHalvesAndStaysFeasible) {
  SpectralGradient steps({}, OntoBall(2));
  std::vector<double> theta = {0.5, 0.5};
  const std::vector<double> start = theta;
  const std::vector<double> gradient = {-1, 1};
  steps.Next(1, gradient, theta);
  const std::vector<double> full = theta;
  steps.Next(5, gradient, theta);  // refused
  EXPECT_EQ(steps.step(), 0.5);
  EXPECT_DOUBLE_EQ(theta[0], 0.5 * (start[0] + full[0]));
  steps.Next(5, gradient, theta);
  EXPECT_EQ(steps.step(), 0.25);
  EXPECT_LE(theta[0] * theta[0] + theta[1] * theta[1], 1);
  EXPECT_GE(theta[1], 0);
}

TEST(SpectralGradient, StartsAnewFromAnotherPoint) {
  SpectralGradient steps({}, OntoBall(2));
  std::vector<double> theta = {0.5, 0.5};
  const std::vector<double> gradient = {-1, 1};
  steps.Next(1, gradient, theta);
  theta = {0.1, 0.2};
  steps.Next(100, gradient, theta);  // far above, but taken
  EXPECT_EQ(steps.step(), 1);
  EXPECT_NE(theta, (std::vector<double>{0.1, 0.2}));
}

}  // namespace
}  // namespace kweave
