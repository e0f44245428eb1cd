#include "regularizer/lp_projection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/constants.h"
#include "base/random.h"
#include "regularizer/lp_norm.h"

namespace kweave {
namespace {

constexpr double kNorms[] = {1, 1.01, 1.1, 4.0 / 3, 2, 3, 10, kInfinity};

std::vector<double> RandomVector(Random& random, std::size_t size, double scale) {
  std::vector<double> v(size);
  for (double& value : v) value = scale * (random.Uniform() * 2 - 0.7);
  return v;
}

std::vector<double> Projected(double p, std::vector<double> v) {
  ProjectOntoLpBall(p, v);
  return v;
}

// The nearest point x of a convex set is the one with (v - x)' (z - x) <= 0 for all z in it. The worst z is
// known in closed form.
double LargestViolation(double p, const std::vector<double>& v, const std::vector<double>& x,
                        const std::vector<double>& scales = {}) {
  std::vector<double> pull(v.size());
  double at_x = 0;
  double scale = 1;
  for (std::size_t m = 0; m < v.size(); ++m) {
    pull[m] = (v[m] - x[m]) / (scales.empty() ? 1 : scales[m]);
    at_x += pull[m] * x[m];
    scale += std::abs(v[m]);
  }
  return (LpNorm(p).Dual(pull) - at_x) / scale;
}

TEST(LpProjection, IsTheNearestPoint) {
  Random random(3);
  for (const double p : kNorms) {
    for (const std::size_t size : {1u, 2u, 7u, 300u}) {
      for (const double scale : {1e-3, 0.5, 3.0, 1e4}) {
        const std::vector<double> v = RandomVector(random, size, scale);
        const std::vector<double> x = Projected(p, v);
        EXPECT_LE(LpNorm(p).Norm(x), 1 + 1e-12) << p << " " << size << " " << scale;
        EXPECT_GE(*std::min_element(x.begin(), x.end()), 0);
        EXPECT_LE(LargestViolation(p, v, x), 1e-9) << p << " " << size << " " << scale;
      }
    }
  }
}

TEST(LpProjection, IsTheNearestPointInAnotherMetric) {
  Random random(4);
  for (const double p : kNorms) {
    const std::vector<double> v = RandomVector(random, 50, 2);
    std::vector<double> scales(v.size());
    for (double& scale : scales) scale = std::pow(10, -2 * random.Uniform());
    std::vector<double> x = v;
    ProjectOntoLpBall(p, x, scales);
    EXPECT_LE(LpNorm(p).Norm(x), 1 + 1e-12) << p;
    EXPECT_LE(LargestViolation(p, v, x, scales), 1e-8) << p;
  }
}

TEST(LpProjection, LeavesFeasiblePointsAlone) {
  for (const double p : kNorms) {
    std::vector<double> v = {0.1, 0, 0.2};
    EXPECT_EQ(Projected(p, v), v) << p;
  }
}

TEST(LpProjection, ServesAHundredThousandValues) {
  Random random(5);
  const std::vector<double> v = RandomVector(random, 100000, 1);
  for (const double p : {1.0, 4.0 / 3}) EXPECT_LE(LargestViolation(p, v, Projected(p, v)), 1e-8) << p;
}

TEST(LpProjection, OfZeroIsZero) {
  for (const double p : kNorms) EXPECT_EQ(Projected(p, {0, -1, 0}), (std::vector<double>{0, 0, 0})) << p;
}

TEST(ProjectOntoSimplex, NoOtherPointIsNearer) {
  Random random(8);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> v(6);
    for (double& value : v) value = 3 * random.Uniform() - (trial % 2 == 0 ? 1 : 3);
    std::vector<double> x = v;
    ProjectOntoSimplex(x);
    EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0), 1, 1e-12);
    // (v - x)' (e_m - x) <= 0 at every corner.
    double at_x = 0;
    for (std::size_t m = 0; m < x.size(); ++m) at_x += (v[m] - x[m]) * x[m];
    for (std::size_t m = 0; m < x.size(); ++m) {
      EXPECT_GE(x[m], 0);
      EXPECT_LE(v[m] - x[m], at_x + 1e-12);
    }
  }
}

}  // namespace
}  // namespace kweave
