#include "weights/models/secant_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/dot.h"
#include "base/random.h"
#include "regularizer/lp_projection.h"

namespace kweave {
namespace {

using Vector = std::vector<double>;

constexpr std::size_t kSize = 6;

// 1/2 (x - center)' H (x - center), H = A A' + a little.
struct Quadratic {
  explicit Quadratic(Random& random) : center(kSize), hessian(kSize, Vector(kSize, 0.0)) {
    std::vector<Vector> factor(kSize, Vector(kSize));
    for (Vector& row : factor) {
      for (double& value : row) value = random.Uniform() - 0.5;
    }
    for (double& value : center) value = 1.5 * random.Uniform() - 0.5;
    for (std::size_t a = 0; a < kSize; ++a) {
      for (std::size_t b = 0; b < kSize; ++b) hessian[a][b] = Dot(factor[a], factor[b]) + (a == b ? 0.05 : 0);
    }
  }

  Vector Gradient(const Vector& x) const {
    Vector way = x, gradient;
    for (std::size_t m = 0; m < kSize; ++m) way[m] -= center[m];
    for (const Vector& row : hessian) gradient.push_back(Dot(row, way));
    return gradient;
  }

  Vector center;
  std::vector<Vector> hessian;
};

SecantModel::Projection OntoBall(double p) {
  return
      [p](std::span<double> theta, std::span<const double> scales) { ProjectOntoLpBall(p, theta, scales); };
}

Vector RandomPoint(Random& random) {
  Vector point(kSize);
  for (double& value : point) value = 0.3 * random.Uniform();
  return point;
}

void AddPair(const Quadratic& quadratic, const Vector& from, const Vector& to, SecantModel& model) {
  Vector step = to, change = quadratic.Gradient(to);
  const Vector before = quadratic.Gradient(from);
  for (std::size_t m = 0; m < kSize; ++m) {
    step[m] -= from[m];
    change[m] -= before[m];
  }
  model.Add(step, change);
}

// Steps in conjugate directions tell all there is to know: the minimum of the model is that of the function.
TEST(SecantModel, KnowsAQuadraticFunctionFromConjugateSteps) {
  Random random(3);
  for (const double p : {1.0, 1.5, 2.0}) {
    for (const bool is_scaled : {false, true}) {
      const Quadratic quadratic(random);
      SecantModel model;
      std::vector<Vector> directions;
      for (std::size_t k = 0; k < kSize; ++k) {
        Vector step(kSize, 0.0);
        step[k] = 1;
        for (const Vector& known : directions) {  // Gram-Schmidt in the metric of H
          const auto product = [&](const Vector& a, const Vector& b) {
            double sum = 0;
            for (std::size_t m = 0; m < kSize; ++m) sum += a[m] * Dot(quadratic.hessian[m], b);
            return sum;
          };
          const double share = product(known, step) / product(known, known);
          for (std::size_t m = 0; m < kSize; ++m) step[m] -= share * known[m];
        }
        directions.push_back(step);
        AddPair(quadratic, Vector(kSize, 0.0), step, model);
      }
      const Vector theta = RandomPoint(random), scales = is_scaled ? Vector{1, 2, 0.5, 1, 3, 0.2} : Vector{};
      const Vector gradient = quadratic.Gradient(theta);
      const Vector x = model.Minimize(theta, gradient, scales, OntoBall(p));
      Vector projected = x;
      const Vector slopes = quadratic.Gradient(x);
      for (std::size_t m = 0; m < kSize; ++m) projected[m] -= slopes[m];
      ProjectOntoLpBall(p, projected);
      for (std::size_t m = 0; m < kSize; ++m) EXPECT_NEAR(projected[m], x[m], 1e-4) << p << " " << is_scaled;
    }
  }
}

TEST(SecantModel, PointsDownhillFromFeasiblePointsAndStaysFeasible) {
  Random random(5);
  for (int trial = 0; trial < 50; ++trial) {
    const Quadratic quadratic(random);
    SecantModel model;
    for (int k = 0; k < 4; ++k) AddPair(quadratic, RandomPoint(random), RandomPoint(random), model);
    Vector theta = RandomPoint(random);
    ProjectOntoLpBall(1, theta);
    const Vector gradient = quadratic.Gradient(theta);
    const Vector x = model.Minimize(theta, gradient, {}, OntoBall(1));
    EXPECT_LE(Dot(gradient, x) - Dot(gradient, theta), 0);
    double sum = 0;
    for (const double value : x) {
      EXPECT_GE(value, 0);
      sum += value;
    }
    EXPECT_LE(sum, 1 + 1e-12);
  }
}

TEST(SecantModel, LeavesOutPairsWithoutCurvature) {
  SecantModel model;
  model.Add({1, 0}, {0, 1});
  model.Add({1, 0}, {-1, 0});
  model.Add({0, 0}, {0, 0});
  EXPECT_TRUE(model.is_empty());
  model.Add({1, 0}, {2, 0});
  EXPECT_FALSE(model.is_empty());
  model.Clear();
  EXPECT_TRUE(model.is_empty());
}

}  // namespace
}  // namespace kweave
