#include "regularizer/bounded_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/constants.h"
#include "base/dot.h"
#include "base/random.h"
#include "kweave/error.h"
#include "regularizer/lp_norm.h"
#include "regularizer/norms.h"

namespace kweave {
namespace {

constexpr std::size_t kKernels = 6;

std::vector<double> RandomVector(Random& random, std::size_t size, double from, double to) {
  std::vector<double> x(size);
  for (double& value : x) value = from + (to - from) * random.Uniform();
  return x;
}

TEST(BoundedNorm, RefusesBoundsThatNothingMeets) {
  EXPECT_THROW(BoundedNorm(1, {0.6, 0.6}, {1, 1}), Error);
  EXPECT_THROW(BoundedNorm(2, {0.6, 0.2}, {0.5, 1}), Error);
}

// A linear function is largest at a vertex: all weights but one are at a bound, and that one as well or at
// what the sum leaves it.
double LargestAtVertices(const LinearWeights& weights, const std::vector<double>& q) {
  double largest = 0;
  const std::size_t K = q.size();
  for (std::size_t choice = 0; choice < (std::size_t{1} << K); ++choice) {
    for (std::size_t free = 0; free < K; ++free) {
      std::vector<double> theta(K);
      double others = 0;
      for (std::size_t m = 0; m < K; ++m) {
        theta[m] = (choice >> m) % 2 == 0 ? weights.lower[m] : weights.upper[m];
        if (m != free) others += theta[m];
      }
      const double left = weights.total - others;
      if (left < weights.lower[free] - 1e-12) continue;
      theta[free] = std::min(left, weights.upper[free]);
      largest = std::max(largest, Dot(theta, q));
    }
  }
  return largest;
}

TEST(BoundedNorm, LinearBoundsHaveTheDualTermOfTheNorm) {
  Random random(8);
  for (const double scale : {0.1, 0.8, 3.0}) {  // sums of the upper bounds below one and above
    for (int trial = 0; trial < 30; ++trial) {
      std::vector<double> lower = RandomVector(random, kKernels, 0, 0.1), upper = lower;
      for (std::size_t m = 0; m < kKernels; ++m) upper[m] += m == 2 ? 0 : scale * random.Uniform();
      const BoundedNorm norm(1, lower, upper);
      ASSERT_TRUE(norm.linear().has_value());
      EXPECT_EQ(norm.linear()->cost, 0);
      const std::vector<double> q = RandomVector(random, kKernels, 0.05, 3);
      EXPECT_NEAR(norm.DualTerm(q), 0.5 * LargestAtVertices(*norm.linear(), q), 1e-12);
    }
  }
  EXPECT_FALSE(BoundedNorm(1.5, {0.1}, {0.4}).linear().has_value());
}

// log q_m - (p - 1) log theta_m is the same for all weights inside their bounds, no less at upper ones and no
// more at lower ones.
TEST(BoundedNorm, BestResponseMeetsTheOptimalityConditions) {
  Random random(9);
  for (const double p : {1 + 1e-9, 1 + 1e-5, 1.01, 1.2, 2.0, 5.0, 100.0}) {
    for (int trial = 0; trial < 60; ++trial) {
      SCOPED_TRACE(std::to_string(p) + ", trial " + std::to_string(trial));
      const std::vector<double> lower = RandomVector(random, kKernels, -0.1, 0.1);
      std::vector<double> least = lower, most = RandomVector(random, kKernels, 0.15, 0.5), q;
      DropNegative(least);
      if (trial % 3 == 0) most[0] = kInfinity;
      for (std::size_t m = 0; m < kKernels; ++m)
        q.push_back(std::exp((trial % 2 == 0 ? 20 : 0.1) * random.Uniform()));
      const BoundedNorm norm(p, least, most);
      std::vector<double> theta(kKernels);
      norm.BestResponse(q, theta);
      if (theta == most) continue;  // the norm does not bind
      // Near p = 1 weights are exponentials of large numbers.
      EXPECT_NEAR(LpNorm(p).Norm(theta), 1, 1e-12 + 1e-14 / (p - 1));
      double least_inside = kInfinity, most_inside = -kInfinity;
      for (std::size_t m = 0; m < kKernels; ++m) {
        EXPECT_GE(theta[m], least[m]);
        EXPECT_LE(theta[m], most[m]);
        const double slope = std::log(q[m]) - (p - 1) * std::log(std::max(theta[m], 1e-300));
        if (theta[m] < most[m] - 1e-9) most_inside = std::max(most_inside, slope);
        if (theta[m] > least[m] + 1e-9) least_inside = std::min(least_inside, slope);
      }
      EXPECT_LE(most_inside, least_inside + 1e-9);
    }
  }
}

TEST(BoundedNorm, LowerBoundsMayLeaveNoChoice) {
  for (const double p : {1.0, 1.001, 2.0, 7.0}) {
    for (const double off : {-1e-13, 0.0, 1e-13}) {
      const std::vector<double> lower(7, std::pow(1.0 / 7, 1 / p) * (1 + off)), upper(7, 1.0);
      const BoundedNorm norm(p, lower, upper);
      std::vector<double> response(7), feasible(7, 0.9);
      norm.BestResponse(std::vector<double>{1, 2, 3, 4, 5, 6, 7}, response);
      norm.MakeFeasible(feasible);
      for (std::size_t m = 0; m < 7; ++m) {
        EXPECT_NEAR(response[m], lower[m], 1e-12);
        EXPECT_NEAR(feasible[m], lower[m], 1e-12);
      }
    }
  }
}

TEST(BoundedNorm, NegativeQuadraticsGetTheLowerBound) {
  std::vector<double> theta(3);
  BoundedNorm(1, {0.1, 0.2, 0}, {0.3, 0.4, kInfinity}).BestResponse(std::vector<double>{2, -1, -3}, theta);
  EXPECT_EQ(theta, (std::vector<double>{0.3, 0.2, 0}));
}

}  // namespace
}  // namespace kweave
