#include "loss/risk.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "loss/hinge.h"

namespace kweave {
namespace {

double Sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// Any f and b bound any feasible beta from above, whatever the loss: the whole of weak duality.
RC_GTEST_PROP(RiskProperty, WeakDualityHoldsForFeasibleBeta, ()) {
  for (const LossRecord& record : LossTable()) {
    const std::size_t n = *rc::gen::inRange<std::size_t>(2, 20);
    std::vector<double> y(n), C(n), f(n), beta(n);
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = i % 2 == 0 ? 1 : -1;
      C[i] = *rc::gen::inRange(5, 50) / 10.0;
      f[i] = *rc::gen::inRange(-300, 300) / 100.0;
      beta[i] = *rc::gen::inRange(-500, 500) / 100.0;
    }
    const std::unique_ptr<Loss> loss = record.make({});
    const double slope = record.task == Task::kOneClass ? 1 : 0;
    for (const bool has_bias : {true, false}) {
      const Risk risk{loss.get(), y, C, has_bias, has_bias ? slope : 0};
      std::vector<double> feasible = beta;
      risk.MakeFeasible(feasible);
      for (std::size_t i = 0; i < n; ++i) {
        RC_ASSERT(feasible[i] >= risk.Feasible(i).lower && feasible[i] <= risk.Feasible(i).upper);
      }
      if (has_bias) RC_ASSERT(std::abs(Sum(feasible) - slope) <= 1e-12 * 500);
      const double bias = risk.BestBias(f);
      const double cross = std::inner_product(f.begin(), f.end(), feasible.begin(), 0.0);
      RC_ASSERT(risk.Value(f, bias) >= risk.Dual(feasible) - cross - 1e-9);
      for (const double step : {-0.1, 0.1}) {
        if (has_bias) RC_ASSERT(risk.Value(f, bias) <= risk.Value(f, bias + step) + 1e-12);
      }
    }
  }
}

TEST(Risk, ReachesASumOtherThanZero) {
  const HingeLoss hinge;
  const std::vector<double> y(10, 1.0), C(10, 0.25);
  const Risk risk{&hinge, y, C, true, 1};
  const std::vector<double> start = risk.FeasibleStart();
  EXPECT_DOUBLE_EQ(Sum(start), 1);
  EXPECT_EQ(start[4], 0);
  for (const double value : {0.0, 0.01, 0.2, 7.0}) {
    std::vector<double> beta(10, value);
    risk.MakeFeasible(beta);
    EXPECT_NEAR(Sum(beta), 1, 1e-14);
    for (const double b : beta) EXPECT_TRUE(0 <= b && b <= 0.25);
  }
}

}  // namespace
}  // namespace kweave
