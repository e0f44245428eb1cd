#include "compute/cpu/float_algebra.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace kweave {
namespace {

bool Always() { return true; }

// I + B B' / k, whose eigenvalues are between 1 and a few.
std::vector<float> WellConditioned(int n, Random& random) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<float> b(size * 3), matrix(size * size, 0.0F);
  for (float& value : b) value = static_cast<float>(random.Uniform() - 0.5) / 10;
  AddSelfProduct(b, n, 3, matrix);
  for (std::size_t i = 0; i < size; ++i) matrix[i * (size + 1)] += 1;
  return matrix;
}

TEST(FloatAlgebra, SolvesWhatItFactored) {
  for (const int n : {1, 2, 65, 1024, 1100}) {  // less than a block, one, and more
    const auto size = static_cast<std::size_t>(n);
    Random random(static_cast<std::uint64_t>(n));
    const std::vector<float> matrix = WellConditioned(n, random);
    std::vector<float> x(size), product(size), factor = matrix;
    for (float& value : x) value = static_cast<float>(random.Uniform());
    const std::vector<float> right = x;
    ASSERT_TRUE(FactorCholesky(factor, n, Always));
    SolveLower(factor, n, x);
    std::vector<float> both(2 * size);
    for (std::size_t i = 0; i < size; ++i) both[2 * i] = both[2 * i + 1] = right[i];
    SolveLower(factor, n, both, 2);
    for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR(both[2 * i + 1], x[i], 1e-4);
    SolveUpper(factor, n, x);
    MultiplySymmetric(matrix, n, x, product);
    for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR(product[i], right[i], 1e-4);
  }
}

TEST(FloatAlgebra, SaysWhenAMatrixIsNotPositiveDefiniteAndStopsWhenAsked) {
  std::vector<float> matrix = {1, 2, 2, 1};
  EXPECT_FALSE(FactorCholesky(matrix, 2, Always));
  Random random(1);
  std::vector<float> large = WellConditioned(2100, random);
  int asked = 0;
  EXPECT_FALSE(FactorCholesky(large, 2100, [&] { return ++asked < 2; }));
  EXPECT_EQ(asked, 2);
}

TEST(FloatAlgebra, MultipliesBothWays) {
  const std::vector<float> b = {1, 2, 3, 4, 5, 6};
  std::vector<float> y(2), z(3);
  Multiply(b, 2, 3, std::vector<float>{1, 0, -1}, y);
  EXPECT_EQ(y, (std::vector<float>{-2, -2}));
  MultiplyTransposed(b, 2, 3, std::vector<float>{1, 2}, z);
  EXPECT_EQ(z, (std::vector<float>{9, 12, 15}));
}

}  // namespace
}  // namespace kweave
