// The first ten steps of each method against a plain transcription of the algorithm box of its paper. The
// transcriptions share nothing with the methods but the machine, and see two kernels only, so that every
// small program is a search along one line.
#include "tests/support/first_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "weights/baselines/analytic.h"
#include "weights/baselines/cutting_plane.h"
#include "weights/baselines/cutting_plane_taylor.h"
#include "weights/baselines/reduced_gradient.h"
#include "weights/baselines/silp.h"

namespace kweave {
namespace {

using testing::Bench;
using testing::ExpectNear;
using testing::FindReferenceProblem;
using testing::HingeRisk;
using testing::kSteps;
using testing::MinimumOnLine;
using testing::ReferenceProblem;
using testing::TwoKernels;
using testing::Vector;

double HighestCut(const std::vector<Evaluation>& steps, std::size_t count, double first, double second) {
  double highest = -kInfinity;
  for (std::size_t t = 0; t < count; ++t) {
    const Vector& q = steps[t].quadratics;
    highest = std::max(highest, steps[t].linear - 0.5 * (first * q[0] + second * q[1]));
  }
  return highest;
}

// Kloft et al. (2011), algorithm 1: solve, then eq. (17) for every kernel.
TEST(FirstSteps, Analytic) {
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  for (const double p : {1.0, 1.1, 4.0 / 3, 2.0, 4.0}) {
    Bench bench(problem, HingeRisk(problem), p);
    Analytic method(bench.regularizer());
    const std::vector<Evaluation> steps = bench.Run(method);
    for (std::size_t t = 0; t < kSteps; ++t) {
      Vector parts;  // ||w_m||^2
      for (std::size_t m = 0; m < steps[t].theta.size(); ++m) {
        parts.push_back(steps[t].theta[m] * steps[t].theta[m] * steps[t].quadratics[m]);
      }
      double sum = 0;
      for (const double part : parts) sum += std::pow(part, p / (p + 1));
      Vector expected;
      for (const double part : parts) expected.push_back(std::pow(part, 1 / (p + 1)) / std::pow(sum, 1 / p));
      ExpectNear(steps[t + 1].theta, expected, 1e-8, t);
    }
  }
}

// Sonnenburg et al. (2005), algorithm 1: the next theta is where the highest cut is lowest on the simplex.
TEST(FirstSteps, ColumnGenerationOnTheSimplex) {
  const ReferenceProblem problem = TwoKernels();
  Bench bench(problem, HingeRisk(problem), 1);
  Silp method(bench.regularizer());
  const std::vector<Evaluation> steps = bench.Run(method);
  for (std::size_t t = 0; t < kSteps; ++t) {
    const double first = MinimumOnLine([&](double x) { return HighestCut(steps, t + 1, x, 1 - x); }, 0, 1);
    ExpectNear(steps[t + 1].theta, {first, 1 - first}, 1e-6, t);
  }
}

// Kloft et al. (2011), (SIP): the same with ||theta||_p <= 1. The cuts fall with both weights, so the norm is
// one.
TEST(FirstSteps, CuttingPlane) {
  const ReferenceProblem problem = TwoKernels();
  for (const double p : {1.1, 4.0 / 3, 2.0, 4.0, 100.0}) {
    Bench bench(problem, HingeRisk(problem), p);
    CuttingPlane method(bench.regularizer());
    const std::vector<Evaluation> steps = bench.Run(method);
    const auto second = [&](double x) { return std::pow(std::max(1 - std::pow(x, p), 0.0), 1 / p); };
    for (std::size_t t = 0; t < kSteps; ++t) {
      const double first =
          MinimumOnLine([&](double x) { return HighestCut(steps, t + 1, x, second(x)); }, 0, 1);
      const double expected = HighestCut(steps, t + 1, first, second(first));
      const double found = HighestCut(steps, t + 1, steps[t + 1].theta[0], steps[t + 1].theta[1]);
      EXPECT_NEAR(found, expected, 1e-8 * std::abs(expected)) << "norm " << p << ", step " << t;
    }
  }
}

// Kloft (2011), algorithm D.1, lines 11 to 20: expand the norm, solve, scale, until nothing changes.
TEST(FirstSteps, CuttingPlaneByTaylorExpansions) {
  const ReferenceProblem problem = TwoKernels();
  for (const double p : {1.1, 4.0 / 3, 2.0, 3.0, 4.0}) {
    Bench bench(problem, HingeRisk(problem), p);
    CuttingPlaneTaylor method(bench.regularizer());
    const std::vector<Evaluation> steps = bench.Run(method);
    for (std::size_t t = 0; t < kSteps; ++t) {
      Vector theta = steps[t].theta;
      double before = kInfinity;
      double highest = HighestCut(steps, t + 1, theta[0], theta[1]);
      for (int k = 0; k < 30 && std::abs(before - highest) > 1e-11 * std::abs(highest); ++k) {
        const Vector old = theta;
        const auto price = [&](std::size_t m,
                               double x) {  // the share of kernel m in the left side of line 16
          return 0.5 * p * (p - 1) * std::pow(old[m], p - 2) * x * x -
                 p * (p - 2) * std::pow(old[m], p - 1) * x;
        };
        const auto second = [&](double x) {  // the largest that lines 15 and 16 leave
          const double left = 0.5 * p * (3 - p) - price(0, x);
          const double a = 0.5 * p * (p - 1) * std::pow(old[1], p - 2),
                       b = p * (p - 2) * std::pow(old[1], p - 1);
          const double root = b * b + 4 * a * left;
          return root < 0 ? -1 : std::min((b + std::sqrt(root)) / (2 * a), 1.0);
        };
        const auto value = [&](double x) {
          const double y = second(x);
          return y < 0 ? 1e6 * (1 + x) : HighestCut(steps, t + 1, x, y);
        };
        theta[0] = MinimumOnLine(value, 0, 1);
        theta[1] = std::max(second(theta[0]), 0.0);
        const double length = std::pow(std::pow(theta[0], p) + std::pow(theta[1], p), 1 / p);
        for (double& weight : theta) weight /= length;
        before = highest;
        highest = HighestCut(steps, t + 1, theta[0], theta[1]);
      }
      const double found = HighestCut(steps, t + 1, steps[t + 1].theta[0], steps[t + 1].theta[1]);
      EXPECT_NEAR(found, highest, 1e-7 * std::abs(highest)) << "norm " << p << ", step " << t;
    }
  }
}

// Rakotomamonjy et al. (2008), algorithm 1, line by line, with the secant as its line search.
TEST(FirstSteps, ReducedGradient) {
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  Bench bench(problem, HingeRisk(problem), 1);
  ReducedGradient method(bench.regularizer());
  const std::vector<Evaluation> steps = bench.Run(method);

  std::vector<Vector> asked;
  const auto solve = [&](const Vector& d) {
    asked.push_back(d);
    return bench.Solve(d);
  };
  const std::size_t M = problem.matrices.size();
  Vector d(M, 1 / static_cast<double>(M));
  Evaluation at = solve(d);
  while (asked.size() <= kSteps) {
    const std::size_t mu = static_cast<std::size_t>(std::max_element(d.begin(), d.end()) - d.begin());
    Vector D(M, 0.0);
    for (std::size_t m = 0; m < M; ++m) {
      const double difference = -0.5 * at.quadratics[m] + 0.5 * at.quadratics[mu];
      if (m == mu || (d[m] == 0 && difference > 0)) continue;
      D[m] = -difference;
      D[mu] += difference;
    }
    const auto slope = [&](const Evaluation& e) {
      return -0.5 * std::inner_product(D.begin(), D.end(), e.quadratics.begin(), 0.0);
    };
    const double first_slope = slope(at);
    Evaluation full;
    double longest = 0;
    bool is_full_step = false;
    for (;;) {  // descent direction update
      std::size_t nu = M;
      for (std::size_t m = 0; m < M; ++m) {
        if (D[m] < 0 && (nu == M || -d[m] / D[m] < -d[nu] / D[nu])) nu = m;
      }
      longest = -d[nu] / D[nu];
      Vector next = d;
      for (std::size_t m = 0; m < M; ++m) next[m] = std::max(d[m] + longest * D[m], 0.0);
      next[nu] = 0;
      full = solve(next);
      if (!(full.inner_dual < at.inner_dual)) break;
      d = next;
      at = full;
      is_full_step = nu == mu;
      D[mu] += D[nu];
      D[nu] = 0;
      if (is_full_step || !(slope(at) < 0)) break;
    }
    if (full.theta == at.theta) continue;
    double low = 0, high = longest, low_slope = slope(at), high_slope = slope(full), step = 0;
    Evaluation trial;
    for (int k = 0; k < 10 && asked.size() <= kSteps; ++k) {
      const double share = low_slope < 0 && high_slope > 0 ? low_slope / (low_slope - high_slope) : 0.5;
      step = low + std::clamp(share, 0.02, 0.98) * (high - low);
      Vector next = d;
      for (std::size_t m = 0; m < M; ++m) next[m] = std::max(d[m] + step * D[m], 0.0);
      trial = solve(next);
      const double s = slope(trial);
      if (std::abs(s) <= 0.1 * std::abs(first_slope) && trial.inner_dual <= at.inner_dual) break;
      (s < 0 ? low : high) = step;
      (s < 0 ? low_slope : high_slope) = s;
    }
    d = trial.theta;
    at = trial;
  }
  for (std::size_t t = 0; t <= kSteps; ++t) ExpectNear(steps[t].theta, asked[t], 1e-6, t);
}

}  // namespace
}  // namespace kweave
