#include "weights/models/hull_saddle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "base/random.h"
#include "compute/cpu/cholesky.h"

namespace kweave {
namespace {

HullProblem RandomProblem(Random& random, std::size_t weights, std::size_t betas, int rank, double rho) {
  HullProblem problem;
  problem.rho = rho;
  for (std::size_t t = 0; t < betas; ++t) problem.l.push_back(random.Uniform());
  problem.B.resize(weights * betas * betas);
  for (std::size_t m = 0; m < weights; ++m) {
    std::vector<double> factor(static_cast<std::size_t>(rank) * betas);
    for (double& value : factor) value = random.Uniform() - 0.2;
    MultiplyTransposed(factor, rank, static_cast<int>(betas),
                       std::span(problem.B).subspan(m * betas * betas, betas * betas));
    problem.c.push_back(m % 2 == 0 ? random.Uniform() : 0);
    problem.d.push_back(0.1 + random.Uniform());
  }
  const double total = std::accumulate(problem.c.begin(), problem.c.end(), 0.0);
  for (double& value : problem.c) value /= total;
  return problem;
}

// The least slope' theta: weight goes to the lowest slopes first.
double LeastProduct(const std::vector<double>& slope, const std::vector<double>& upper) {
  std::vector<std::size_t> order(slope.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return slope[a] < slope[b]; });
  double left = 1;
  double product = 0;
  for (const std::size_t m : order) {
    const double weight = upper.empty() ? left : std::min(upper[m], left);
    product += weight * slope[m];
    left -= weight;
  }
  return product;
}

// How far the point can be from the saddle value: what each player could gain along its best direction. The
// function is convex in theta and concave in w, so no other move gains more.
double MostGain(const HullProblem& problem, const HullPoint& point) {
  const std::size_t T = problem.l.size();
  std::vector<double> slope_of_w = problem.l;
  std::vector<double> slope_of_theta;
  double mean_of_theta = 0;
  for (std::size_t m = 0; m < point.theta.size(); ++m) {
    double quadratic = 0;
    for (std::size_t t = 0; t < T; ++t) {
      for (std::size_t s = 0; s < T; ++s) {
        const double product = problem.B[(m * T + t) * T + s] * point.w[s];
        slope_of_w[t] -= point.theta[m] * product;
        quadratic += point.w[t] * product;
      }
    }
    const double slope = problem.rho * problem.d[m] * (point.theta[m] - problem.c[m]) - 0.5 * quadratic;
    slope_of_theta.push_back(slope);
    mean_of_theta += point.theta[m] * slope;
  }
  const double most_of_w = *std::max_element(slope_of_w.begin(), slope_of_w.end());
  const double mean_of_w = std::inner_product(slope_of_w.begin(), slope_of_w.end(), point.w.begin(), 0.0);
  return (mean_of_theta - LeastProduct(slope_of_theta, problem.upper)) + (most_of_w - mean_of_w);
}

void ExpectInSimplex(std::span<const double> x) {
  for (const double value : x) EXPECT_GE(value, 0);
  EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0), 1, 1e-12);
}

TEST(HullSaddle, NoPlayerCanGain) {
  Random random(3);
  for (const std::size_t weights : {1u, 2u, 7u, 60u}) {
    for (const std::size_t betas : {1u, 2u, 5u, 20u}) {
      for (const double rho : {0.0, 1e-3, 10.0}) {
        for (const int rank : {1, 4}) {
          const HullProblem problem = RandomProblem(random, weights, betas, rank, rho);
          const HullPoint point = SolveHull(problem, 1e-9);
          ASSERT_EQ(point.theta.size(), weights) << betas << " betas, rho " << rho << ", rank " << rank;
          ExpectInSimplex(point.theta);
          ExpectInSimplex(point.w);
          EXPECT_LE(MostGain(problem, point), 1e-8)
              << weights << " weights, " << betas << " betas, rho " << rho << ", rank " << rank;
        }
      }
    }
  }
}

// Many bounds, few, some that are never met and some that leave hardly a choice.
TEST(HullSaddle, NoPlayerCanGainWithinUpperBounds) {
  Random random(5);
  for (const std::size_t weights : {2u, 7u, 60u}) {
    for (const std::size_t betas : {1u, 5u, 20u}) {
      for (const double rho : {0.0, 1e-3, 10.0}) {
        for (const double sum : {1 + 1e-6, 1.2, 3.0, 40.0}) {
          for (const int rank : {1, 4}) {
            HullProblem problem = RandomProblem(random, weights, betas, rank, rho);
            for (std::size_t m = 0; m < weights; ++m) {
              problem.upper.push_back(random.Uniform() < 0.2 ? 1e-4 : random.Uniform());
            }
            problem.upper[0] += 0.1;
            const double total = std::accumulate(problem.upper.begin(), problem.upper.end(), 0.0);
            for (double& value : problem.upper) value *= sum / total;
            const HullPoint point = SolveHull(problem, 1e-9);
            ASSERT_EQ(point.theta.size(), weights) << betas << " betas, rho " << rho << ", sum " << sum;
            ExpectInSimplex(point.theta);
            ExpectInSimplex(point.w);
            for (std::size_t m = 0; m < weights; ++m) EXPECT_LE(point.theta[m], problem.upper[m]);
            EXPECT_LE(MostGain(problem, point), 1e-8)
                << weights << " weights, " << betas << " betas, rho " << rho << ", sum " << sum;
          }
        }
      }
    }
  }
}

// Two weights leave one number to choose: the largest value over w is tried on a fine grid of it.
TEST(HullSaddle, MeetsAGridWithinUpperBounds) {
  Random random(6);
  for (int trial = 0; trial < 20; ++trial) {
    HullProblem problem = RandomProblem(random, 2, 2, 2, 0);
    problem.upper = {0.3 + 0.3 * random.Uniform(), 0.75};
    const auto value = [&](double theta, double w) {
      const double at[] = {w, 1 - w}, weights[] = {theta, 1 - theta};
      double sum = problem.l[0] * at[0] + problem.l[1] * at[1];
      for (std::size_t m = 0; m < 2; ++m) {
        for (std::size_t t = 0; t < 2; ++t) {
          for (std::size_t s = 0; s < 2; ++s)
            sum -= 0.5 * weights[m] * at[t] * at[s] * problem.B[(m * 2 + t) * 2 + s];
        }
      }
      return sum;
    };
    constexpr int kGrid = 400;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i <= kGrid; ++i) {
      const double theta = 0.25 + (problem.upper[0] - 0.25) * i / kGrid;
      double most = -std::numeric_limits<double>::infinity();
      for (int j = 0; j <= kGrid; ++j) most = std::max(most, value(theta, static_cast<double>(j) / kGrid));
      least = std::min(least, most);
    }
    const HullPoint point = SolveHull(problem, 1e-9);
    ASSERT_EQ(point.theta.size(), 2u);
    EXPECT_NEAR(value(point.theta[0], point.w[0]), least, 1e-3);
  }
}

TEST(HullSaddle, AStrongPullLeadsToTheCentre) {
  Random random(4);
  const HullProblem problem = RandomProblem(random, 9, 4, 3, 1e5);
  const HullPoint point = SolveHull(problem, 1e-9);
  for (std::size_t m = 0; m < 9; ++m) EXPECT_NEAR(point.theta[m], problem.c[m], 1e-3);
}

TEST(HullSaddle, RepeatedBetasAndKernelsAreHarmless) {
  HullProblem problem;
  problem.l = {1, 1, 1};
  for (int m = 0; m < 4; ++m) problem.B.insert(problem.B.end(), 9, m < 2 ? 0.5 : 0.0);
  problem.c = problem.d = {1, 1, 1, 1};
  const HullPoint point = SolveHull(problem, 1e-9);
  ASSERT_EQ(point.theta.size(), 4u);
  EXPECT_NEAR(point.theta[0] + point.theta[1], 1, 1e-6);
}

}  // namespace
}  // namespace kweave
