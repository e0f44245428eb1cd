#include "weights/hull_saddle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

// How far the point can be from the saddle value: what each player could gain along its best direction. The
// function is convex in theta and concave in w, so no other move gains more.
double MostGain(const HullProblem& problem, const HullPoint& point) {
  const std::size_t T = problem.l.size();
  std::vector<double> slope_of_w = problem.l;
  double most_of_theta = 0;
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
    most_of_theta = m == 0 ? slope : std::min(most_of_theta, slope);
    mean_of_theta += point.theta[m] * slope;
  }
  const double most_of_w = *std::max_element(slope_of_w.begin(), slope_of_w.end());
  const double mean_of_w = std::inner_product(slope_of_w.begin(), slope_of_w.end(), point.w.begin(), 0.0);
  return (mean_of_theta - most_of_theta) + (most_of_w - mean_of_w);
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
