#include "compute/cpu/cholesky.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace kweave {
namespace {

TEST(Cholesky, SolvesWhatItFactored) {
  for (const int n : {1, 2, 7, 65}) {
    const auto size = static_cast<std::size_t>(n);
    Random random(static_cast<std::uint64_t>(n));
    std::vector<double> b(size * size), matrix(size * size), x(size * 2), product(size, 0.0);
    for (double& value : b) value = random.Uniform() - 0.5;
    MultiplyTransposed(b, n, n, matrix);
    for (std::size_t i = 0; i < size; ++i) matrix[i * (size + 1)] += 1;
    for (double& value : x) value = random.Uniform();
    const std::vector<double> right = x;
    std::vector<double> factor = matrix;
    ASSERT_TRUE(FactorCholesky(factor, n));
    SolveLower(factor, n, x, 2);
    SolveUpper(factor, n, x, 2);
    std::vector<double> first(size);
    for (std::size_t i = 0; i < size; ++i) first[i] = x[2 * i];
    AddSymmetricProduct(matrix, n, first, product);
    for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR(product[i], right[2 * i], 1e-12 * n);
    for (std::size_t i = 0; i < size; ++i) {
      double entry = 0;
      for (std::size_t j = 0; j < size; ++j) entry += matrix[i * size + j] * x[2 * j + 1];
      EXPECT_NEAR(entry, right[2 * i + 1], 1e-12 * n);
    }
  }
}

TEST(Cholesky, InvertsATriangle) {
  std::vector<double> factor = {2, 99, 99, 1, 4, 99, 3, -1, 0.5};  // what is above the diagonal is not read
  InvertLower(factor, 3);
  const std::vector<double> b = {1, -2, 3};
  std::vector<double> x = b;
  SolveLower(std::vector<double>{2, 0, 0, 1, 4, 0, 3, -1, 0.5}, 3, x, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) sum += factor[i * 3 + j] * b[j];
    EXPECT_NEAR(sum, x[i], 1e-14);
  }
}

TEST(Cholesky, SaysWhenAMatrixIsNotPositiveDefinite) {
  std::vector<double> matrix = {1, 2, 2, 1};
  EXPECT_FALSE(FactorCholesky(matrix, 2));
}

}  // namespace
}  // namespace kweave
