#include "weights/models/saddle_qp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "compute/cpu/cholesky.h"
#include "regularizer/lp_norm.h"

namespace kweave {
namespace {

std::vector<double> RandomSquare(Random& random, std::size_t rank, std::size_t size) {
  std::vector<double> factor(rank * size), square(size * size, 0.0);
  for (double& value : factor) value = random.Uniform() - 0.5;
  if (rank > 0) MultiplyTransposed(factor, static_cast<int>(rank), static_cast<int>(size), square);
  return square;
}

SaddleProblem RandomProblem(Random& random, double p, std::size_t weights, std::size_t samples,
                            std::size_t rank) {
  SaddleProblem problem;
  problem.A = RandomSquare(random, rank, samples);
  problem.H = RandomSquare(random, rank / 2, weights);
  for (std::size_t k = 0; k < weights; ++k) {
    problem.c.push_back(-random.Uniform());
    problem.s.push_back(k % 2 == 0 ? random.Uniform() : 0);
  }
  LpNorm(p).Normalize(problem.s);
  for (std::size_t i = 0; i < samples; ++i) {
    problem.r.push_back(random.Uniform() - 0.5);
    problem.lower.push_back(i % 3 == 0 ? 0 : -random.Uniform());  // 0 may be a bound
    problem.upper.push_back(i % 3 == 1 ? 0 : random.Uniform());
    for (std::size_t k = 0; k < weights; ++k) problem.G.push_back(random.Uniform() - 0.5);
  }
  return problem;
}

struct Gradients {
  std::vector<double> t, x;
};

Gradients At(const SaddleProblem& problem, const SaddlePoint& point) {
  const std::size_t weights = problem.c.size(), samples = problem.r.size();
  std::vector<double> d(weights);
  for (std::size_t k = 0; k < weights; ++k) d[k] = point.t[k] - problem.s[k];
  Gradients gradients{problem.c, problem.r};
  AddSymmetricProduct(problem.H, static_cast<int>(weights), d, gradients.t);
  for (std::size_t i = 0; i < samples; ++i) {
    for (std::size_t j = 0; j < samples; ++j) gradients.x[i] -= problem.A[i * samples + j] * point.x[j];
    for (std::size_t k = 0; k < weights; ++k) {
      gradients.x[i] -= problem.G[i * weights + k] * d[k];
      gradients.t[k] -= problem.G[i * weights + k] * point.x[i];
    }
  }
  return gradients;
}

// The most that either player could gain along the other's fixed move; convexity makes that an optimality
// check: t moves to the best response to its slopes, x from entries with small to entries with large slope.
double LargestGain(const SaddleProblem& problem, double p, const SaddlePoint& point) {
  const Gradients gradients = At(problem, point);
  std::vector<double> wanted(gradients.t.size()), best(gradients.t.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k] = -gradients.t[k];
  LpNorm(p).BestResponse(wanted, best);
  double gain = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) gain += wanted[k] * (best[k] - point.t[k]);
  for (std::size_t i = 0; i < point.x.size(); ++i) {
    for (std::size_t j = 0; j < point.x.size(); ++j) {
      const double room = std::min(problem.upper[i] - point.x[i], point.x[j] - problem.lower[j]);
      gain = std::max(gain, (gradients.x[i] - gradients.x[j]) * room);
    }
  }
  return gain;
}

TEST(SaddleQp, NoPlayerCanGain) {
  Random random(1);
  for (const double p : {1.0, 1.001, 1.1, 2.0, 4.0, 8.0, 100.0}) {
    for (const std::size_t rank : {0u, 2u, 12u}) {
      if (p > 8 && rank < 12) continue;
      for (const std::size_t weights : {1u, 2u, 8u}) {
        const SaddleProblem problem = RandomProblem(random, p, weights, 12, rank);
        const SaddlePoint point = SolveSaddle(problem, p, 1e-9);
        ASSERT_EQ(point.t.size(), weights) << p << " rank " << rank;
        EXPECT_LE(LpNorm(p).Norm(point.t), 1 + 1e-7);
        EXPECT_NEAR(std::accumulate(point.x.begin(), point.x.end(), 0.0), 0, 1e-7);
        for (std::size_t i = 0; i < point.x.size(); ++i) {
          EXPECT_GE(point.x[i], problem.lower[i]);
          EXPECT_LE(point.x[i], problem.upper[i]);
        }
        EXPECT_LE(LargestGain(problem, p, point), 1e-6) << p << " rank " << rank << " weights " << weights;
      }
    }
  }
}

TEST(SaddleQp, WhereSamplesDoNotMatterItIsTheBestResponse) {
  const SaddleProblem problem{{-1, -3, -2},
                              {1, 0, 0},
                              {0, 0},
                              {-1, -1},
                              {1, 1},
                              std::vector<double>(4, 0.0),
                              std::vector<double>(6, 0.0),
                              std::vector<double>(9, 0.0)};
  for (const double p : {1.0, 1.5, 4.0}) {
    std::vector<double> best(3);
    LpNorm(p).BestResponse(std::vector<double>{1, 3, 2}, best);
    const SaddlePoint point = SolveSaddle(problem, p, 1e-9);
    ASSERT_EQ(point.t.size(), 3u);
    for (std::size_t m = 0; m < 3; ++m) EXPECT_NEAR(point.t[m], best[m], 1e-5) << p;
    if (p == 1) {
      EXPECT_EQ(point.t[0], 0);
    }
  }
}

TEST(SaddleQp, NumbersThatAreNoneHaveNoSolution) {
  Random random(2);
  SaddleProblem problem = RandomProblem(random, 2, 3, 6, 6);
  problem.G[4] = std::nan("");
  EXPECT_TRUE(SolveSaddle(problem, 2, 1e-9).t.empty());
}

}  // namespace
}  // namespace kweave
