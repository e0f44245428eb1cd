#include "weights/lp_ball_qp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "compute/cpu/cholesky.h"
#include "regularizer/lp_norm.h"

namespace kweave {
namespace {

// Of c' t + 1/2 t' H t.
double Objective(const std::vector<double>& c, const std::vector<double>& H, const std::vector<double>& t) {
  std::vector<double> product(c.size(), 0.0);
  AddSymmetricProduct(H, static_cast<int>(c.size()), t, product);
  double sum = 0;
  for (std::size_t m = 0; m < c.size(); ++m) sum += t[m] * (c[m] + 0.5 * product[m]);
  return sum;
}

TEST(LpBallQp, NoFeasiblePointIsBetter) {
  Random random(1);
  for (const double p : {1.0, 1.001, 1.1, 2.0, 4.0, 8.0}) {
    for (const int rank : {0, 2, 8}) {
      const std::size_t size = 8;
      std::vector<double> c(size), factor(static_cast<std::size_t>(rank) * size), H(size * size, 0.0);
      for (double& value : c) value = -random.Uniform();
      for (double& value : factor) value = random.Uniform() - 0.5;
      if (rank > 0) MultiplyTransposed(factor, rank, static_cast<int>(size), H);
      std::vector<double> start(size, 0.0);
      start[0] = 1;
      const LpNorm norm(p);
      const std::vector<double> found = MinimizeOverLpBall(c, H, p, start);
      ASSERT_EQ(found.size(), size) << p;
      EXPECT_LE(norm.Value(found), 1 + 1e-9) << p;
      const double best = Objective(c, H, found);
      for (int trial = 0; trial < 2000; ++trial) {
        // Near the solution and far from it, and towards every corner.
        const double distance = std::pow(10, -6 * random.Uniform());
        std::vector<double> other(size);
        for (double& value : other) value = std::pow(random.Uniform(), trial % 2 == 0 ? 1 : 8);
        norm.Normalize(other);
        for (std::size_t m = 0; m < size; ++m) other[m] = found[m] + distance * (other[m] - found[m]);
        norm.MakeFeasible(other);
        EXPECT_GE(Objective(c, H, other), best - 1e-9) << p << " rank " << rank;
      }
    }
  }
}

TEST(LpBallQp, WithoutCurvatureItIsTheBestResponse) {
  const std::vector<double> c = {-1, -3, -2}, none(9, 0.0), start = {1, 0, 0};
  for (const double p : {1.0, 1.5, 4.0}) {
    std::vector<double> best(3);
    LpNorm(p).BestResponse(std::vector<double>{1, 3, 2}, best);
    const std::vector<double> found = MinimizeOverLpBall(c, none, p, start);
    ASSERT_EQ(found.size(), 3u);
    for (std::size_t m = 0; m < 3; ++m) EXPECT_NEAR(found[m], best[m], 1e-6) << p;
  }
}

TEST(LpBallQp, NumbersThatAreNoneHaveNoSolution) {
  const std::vector<double> c = {-1, std::nan("")}, none(4, 0.0), start = {0.5, 0.5};
  EXPECT_TRUE(MinimizeOverLpBall(c, none, 2, start).empty());
}

}  // namespace
}  // namespace kweave
