#include "qp/preconditioner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "qp/conjugate_gradients.h"
#include "qp/test_problems.h"

namespace kweave {
namespace {

bool Always() { return true; }

// (K + V) applied to what the preconditioner makes of r gives r back, exactly where it holds all of K.
TEST(Preconditioner, InvertsWhatItWasBuiltFor) {
  Random random(4);
  constexpr Index kSize = 120;
  const Matrix matrix = RandomGram(kSize, 10, random);
  MatrixRows<float> rows(matrix);
  std::vector<double> v(kSize), r(kSize), z(kSize), back(kSize);
  for (double& value : v) value = 0.1 + random.Uniform();
  for (double& value : r) value = Normal(random);
  // Room for a factor of all, and for 60 landmarks, which are enough for a matrix of rank 10.
  for (const std::size_t bytes : {std::size_t{4 * kSize * kSize}, std::size_t{8 * 60 * kSize}}) {
    KernelMatrix kernel(rows, false, bytes);
    Preconditioner preconditioner(bytes);
    ASSERT_TRUE(preconditioner.Build(kernel, v, Always));
    preconditioner.Apply(r, z);
    MatrixRows<double>(matrix).Multiply(z, back);
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      error += std::pow(back[i] + v[i] * z[i] - r[i], 2);
      norm += r[i] * r[i];
    }
    EXPECT_LE(std::sqrt(error / norm), bytes == 4 * kSize * kSize ? 1e-4 : 0.2);
  }
}

TEST(Preconditioner, ChoosesLandmarksByItsSeed) {
  Random random(4);
  constexpr Index kSize = 120;
  const Matrix matrix = RandomGram(kSize, 40, random);
  MatrixRows<float> rows(matrix);
  const std::vector<double> v(kSize, 0.5), r(kSize, 1.0);
  const auto apply = [&](std::uint64_t seed) {
    constexpr std::size_t kBytes = 8 * 20 * kSize;  // for 20 landmarks, too few for rank 40
    KernelMatrix kernel(rows, false, kBytes);
    Preconditioner preconditioner(kBytes, seed);
    EXPECT_TRUE(preconditioner.Build(kernel, v, Always));
    std::vector<double> z(kSize);
    preconditioner.Apply(r, z);
    return z;
  };
  EXPECT_EQ(apply(1), apply(1));
  EXPECT_NE(apply(1), apply(2));
}

TEST(ConjugateGradients, SolvesOnThePlaneWithAnOldPreconditioner) {
  Random random(4);
  constexpr Index kSize = 200;
  Matrix matrix = RandomGram(kSize, 30, random);
  MatrixRows<float> rows(matrix);
  std::vector<double> v(kSize), rho(kSize), d, product(kSize);
  for (double& value : v) value = 0.1 + random.Uniform();
  for (double& value : rho) value = Normal(random);
  const auto is_enough = [](double gap, auto, auto) { return gap <= 1e-7; };
  Preconditioner preconditioner(std::size_t{4 * kSize * kSize});
  for (const double factor : {1.0, 1.5, 100.0}) {  // the last one makes it build anew
    for (double& value : matrix.values) value *= factor;
    KernelMatrix kernel(rows, false, std::size_t{4 * kSize * kSize});
    ASSERT_TRUE(kernel.Load(Always));
    ASSERT_TRUE(SolveOnPlane(kernel, v, rho, true, is_enough, preconditioner, Always, d));
    MatrixRows<double>(matrix).Multiply(d, product);
    double sum = 0, mean = 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
      sum += d[i];
      product[i] = v[i] * (rho[i] - d[i]) - product[i];
      mean += product[i] / kSize;
    }
    EXPECT_NEAR(sum, 0, 1e-9);
    for (const double residual : product) EXPECT_NEAR(residual, mean, 2e-3) << factor;
  }
}

}  // namespace
}  // namespace kweave
