#include "regularizer/lp_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/constants.h"
#include "base/random.h"
#include "kweave/error.h"

namespace kweave {
namespace {

constexpr double kNorms[] = {1, 1.001, 1.1, 4.0 / 3, 2, 4, 100, 1e6, kInfinity};

std::vector<double> RandomVector(Random& random, std::size_t size, double from, double to) {
  std::vector<double> x(size);
  for (double& value : x) value = from + (to - from) * random.Uniform();
  return x;
}

TEST(LpNorm, DualIsAttainedByTheBestResponseAndByNothingElse) {
  Random random(1);
  for (const double p : kNorms) {
    const LpNorm norm(p);
    for (int trial = 0; trial < 50; ++trial) {
      const std::vector<double> q = RandomVector(random, 7, -1, 3);
      std::vector<double> theta(q.size());
      norm.BestResponse(q, theta);
      EXPECT_NEAR(norm.Norm(theta), 1, 1e-12);
      EXPECT_NEAR(std::inner_product(q.begin(), q.end(), theta.begin(), 0.0), norm.Dual(q),
                  1e-12 * norm.Dual(q));
      std::vector<double> other = RandomVector(random, 7, 0, 1);
      norm.Normalize(other);
      EXPECT_LE(std::inner_product(q.begin(), q.end(), other.begin(), 0.0), norm.Dual(q) * (1 + 1e-12));
    }
  }
}

TEST(LpNorm, GradientOfTheDualIsTheBestResponse) {
  Random random(2);
  for (const double p : {1.1, 4.0 / 3, 2.0, 4.0}) {
    const LpNorm norm(p);
    std::vector<double> q = RandomVector(random, 5, 0.5, 2);
    std::vector<double> theta(q.size());
    norm.BestResponse(q, theta);
    for (std::size_t m = 0; m < q.size(); ++m) {
      const double step = 1e-6, kept = q[m];
      q[m] = kept + step;
      const double above = norm.Dual(q);
      q[m] = kept - step;
      const double below = norm.Dual(q);
      q[m] = kept;
      EXPECT_NEAR((above - below) / (2 * step), theta[m], 1e-6);
    }
  }
}

TEST(LpNorm, AnalyticUpdateMinimisesItsBound) {
  Random random(3);
  for (const double p : {1.0, 1.1, 2.0, 4.0, 100.0}) {
    const LpNorm norm(p);
    const std::vector<double> theta = RandomVector(random, 6, 0.1, 1), q = RandomVector(random, 6, 0.1, 3);
    const auto bound = [&](const std::vector<double>& at) {
      double sum = 0;
      for (std::size_t m = 0; m < q.size(); ++m) sum += theta[m] * theta[m] * q[m] / at[m];
      return sum;
    };
    std::vector<double> updated(q.size());
    norm.AnalyticUpdate(theta, q, updated);
    EXPECT_NEAR(norm.Norm(updated), 1, 1e-12);
    for (int trial = 0; trial < 200; ++trial) {
      std::vector<double> other = updated;
      for (double& value : other) value *= 1 + 0.02 * (random.Uniform() - 0.5);
      norm.Normalize(other);
      EXPECT_GE(bound(other), bound(updated) * (1 - 1e-12));
    }
  }
}

TEST(LpNorm, ExtremeValuesNeitherOverflowNorUnderflow) {
  const std::vector<double> q = {1e300, 1e299, 1e-300, 0, -1e300};
  for (const double p : kNorms) {
    const LpNorm norm(p);
    EXPECT_TRUE(std::isfinite(norm.Dual(q))) << p;
    std::vector<double> theta(q.size());
    norm.Uniform(theta);
    norm.AnalyticUpdate(theta, q, theta);
    EXPECT_NEAR(norm.Norm(theta), 1, 1e-9) << p;
    EXPECT_EQ(theta[3], 0);
    EXPECT_EQ(theta[4], 0);
    norm.BestResponse(q, theta);
    EXPECT_NEAR(norm.Norm(theta), 1, 1e-9) << p;
  }
}

TEST(LpNorm, NothingPositiveGivesNoWeight) {
  const std::vector<double> q = {0, -1};
  for (const double p : kNorms) {
    const LpNorm norm(p);
    std::vector<double> theta = {0.5, 0.5};
    norm.AnalyticUpdate(theta, q, theta);
    EXPECT_EQ(theta, (std::vector<double>{0, 0}));
    EXPECT_EQ(norm.Dual(q), 0);
  }
}

TEST(LpNorm, EndsOfTheRange) {
  EXPECT_EQ(LpNorm(1).Dual(std::vector<double>{1, 3, -9}), 3);
  EXPECT_EQ(LpNorm(kInfinity).Dual(std::vector<double>{1, 3, -9}), 4);
  EXPECT_THROW(LpNorm(0.5), Error);
  EXPECT_THROW(LpNorm(std::nan("")), Error);
}

TEST(LowerBound, IsTheBestOfAllScalings) {
  Random random(5);
  for (const double p : kNorms) {
    const LpNorm norm(p);
    for (const double linear : {-1.0, 0.5, 2.0, 10.0}) {
      const std::vector<double> q = RandomVector(random, 5, 0, 2);
      double best = 0;
      for (int k = 0; k <= 1000; ++k) {
        const double s = k / 1000.0;
        best = std::max(best, s * linear - 0.5 * s * s * norm.Dual(q));
      }
      EXPECT_NEAR(LowerBound(norm, linear, q, true), best, 1e-5);
      EXPECT_GE(LowerBound(norm, linear, q, true), best - 1e-12);
      EXPECT_EQ(LowerBound(norm, linear, q, false), linear - 0.5 * norm.Dual(q));
    }
  }
}

TEST(LpNorm, MakeFeasible) {
  std::vector<double> theta = {-1, 3, 4};
  LpNorm(2).MakeFeasible(theta);
  EXPECT_EQ(theta[0], 0);
  EXPECT_NEAR(theta[1], 0.6, 1e-15);
  theta = {0.1, 0.1};
  LpNorm(2).MakeFeasible(theta);
  EXPECT_EQ(theta[0], 0.1);
}

}  // namespace
}  // namespace kweave
