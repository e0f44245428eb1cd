#include "compute/cpu/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace kweave {
namespace {

std::vector<double> RandomSymmetric(std::size_t n) {
  Random random(n);
  std::vector<double> matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) matrix[i * n + j] = matrix[j * n + i] = 2 * random.Uniform() - 1;
  }
  return matrix;
}

TEST(SymmetricEigen, PutsTheMatrixTogetherAgain) {
  for (const std::size_t n : {1, 2, 3, 17, 60}) {
    const std::vector<double> matrix = RandomSymmetric(n);
    const SymmetricEigen eigen(matrix, n);
    ASSERT_EQ(eigen.values.size(), n);
    EXPECT_TRUE(std::ranges::is_sorted(eigen.values, std::greater<>()));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0, product = 0;
        for (std::size_t k = 0; k < n; ++k) {
          sum += eigen.values[k] * eigen.vectors[k][i] * eigen.vectors[k][j];
          product += eigen.vectors[i][k] * eigen.vectors[j][k];
        }
        EXPECT_NEAR(sum, matrix[i * n + j], 1e-12) << n;
        EXPECT_NEAR(product, i == j ? 1 : 0, 1e-12) << n;
      }
    }
  }
}

TEST(SymmetricEigen, HasItsLargestEntriesPositive) {
  const SymmetricEigen eigen(std::vector<double>{2, -1, -1, 2}, 2);
  EXPECT_NEAR(eigen.values[0], 3, 1e-15);
  EXPECT_NEAR(eigen.values[1], 1, 1e-15);
  for (const std::vector<double>& vector : eigen.vectors) {
    EXPECT_GT(*std::ranges::max_element(vector, {}, [](double x) { return std::abs(x); }), 0);
  }
}

TEST(SymmetricEigen, SaysWhereThereIsNone) {
  EXPECT_TRUE(SymmetricEigen({}, 0).values.empty());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(SymmetricEigen(std::vector<double>{1, nan, nan, 1}, 2).values[1]));
}

}  // namespace
}  // namespace kweave
