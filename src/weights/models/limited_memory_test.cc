#include "weights/models/limited_memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "base/random.h"

namespace kweave {
namespace {

using Vector = std::vector<double>;

constexpr std::size_t kSize = 6;

// A positive definite matrix with a diagonal of its own.
struct Quadratic {
  Quadratic() {
    Random random(5);
    Vector factor;
    for (std::size_t k = 0; k < 2 * kSize; ++k) factor.push_back(random.Uniform() - 0.5);
    for (std::size_t i = 0; i < kSize; ++i) {
      for (std::size_t j = 0; j < kSize; ++j) {
        matrix[i][j] = factor[2 * i] * factor[2 * j] + factor[2 * i + 1] * factor[2 * j + 1];
      }
      matrix[i][i] += 1 + static_cast<double>(i);
    }
  }

  Vector operator*(const Vector& x) const {
    Vector product(kSize);
    for (std::size_t i = 0; i < kSize; ++i) {
      for (std::size_t j = 0; j < kSize; ++j) product[i] += matrix[i][j] * x[j];
    }
    return product;
  }

  double matrix[kSize][kSize];
};

Vector RandomStep(Random& random) {
  Vector step;
  for (std::size_t i = 0; i < kSize; ++i) step.push_back(random.Uniform() - 0.5);
  return step;
}

TEST(LimitedMemory, WithoutPairsIsTheDiagonal) {
  LimitedMemory memory(3);
  memory.UseDiagonal({1, 2, 0, 4, 5, 6});
  Vector v(kSize, 1);
  memory.Multiply(v);
  EXPECT_EQ(v, (Vector{1, 2, 0, 4, 5, 6}));
}

TEST(LimitedMemory, LeadsTheLatestChangeBackToItsStep) {
  const Quadratic hessian;
  Random random(1);
  LimitedMemory memory(3);
  for (int k = 0; k < 5; ++k) {
    const Vector step = RandomStep(random);
    memory.Add(step, hessian * step);
    memory.UseDiagonal(Vector(kSize, 0.3));
    Vector v = hessian * step;
    memory.Multiply(v);
    for (std::size_t i = 0; i < kSize; ++i) EXPECT_NEAR(v[i], step[i], 1e-12);
  }
}

TEST(LimitedMemory, StaysSymmetricAndPositiveAmongFreeVariables) {
  const Quadratic hessian;
  Random random(2);
  LimitedMemory memory(4);
  for (int k = 0; k < 4; ++k) {
    const Vector step = RandomStep(random);
    memory.Add(step, hessian * step);
  }
  memory.UseDiagonal({1, 0, 1, 1, 0, 1});
  Vector products[kSize];
  for (std::size_t i = 0; i < kSize; ++i) {
    products[i].assign(kSize, 0.0);
    products[i][i] = 1;
    memory.Multiply(products[i]);
  }
  for (std::size_t i = 0; i < kSize; ++i) {
    const bool is_held = i == 1 || i == 4;
    EXPECT_TRUE(is_held ? products[i][i] == 0 : products[i][i] > 0);
    for (std::size_t j = 0; j < kSize; ++j) EXPECT_NEAR(products[i][j], products[j][i], 1e-12);
  }
}

TEST(LimitedMemory, LeavesOutPairsWithoutCurvature) {
  LimitedMemory memory(3);
  memory.Add(Vector(kSize, 1), Vector(kSize, -1));
  memory.UseDiagonal(Vector(kSize, 2));
  Vector v(kSize, 1);
  memory.Multiply(v);
  EXPECT_EQ(v, Vector(kSize, 2));
}

}  // namespace
}  // namespace kweave
