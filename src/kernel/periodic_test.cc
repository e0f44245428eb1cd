#include "kernel/periodic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kweave {
namespace {

double Value(const std::vector<double>& x, const std::vector<double>& z, double period, double length_scale) {
  return ShapeValue(*kPeriodic.shape, {period, length_scale}, kPeriodic.base->plain(x, z, period));
}

TEST(Periodic, ValuesByHand) {
  EXPECT_NEAR(Value({0}, {0.5}, 1, 1), std::exp(-2), 1e-15);  // sin^2(pi/2) = 1
  EXPECT_NEAR(Value({0}, {0.5}, 2, 1), std::exp(-1), 1e-15);  // sin^2(pi/4) = 1/2
  EXPECT_NEAR(Value({0, 1}, {0.5, 0.5}, 2, 2), std::exp(-0.5), 1e-15);
}

TEST(Periodic, RepeatsAfterEveryPeriod) {
  for (const double turns : {1.0, -3.0, 1000.0}) {
    EXPECT_NEAR(Value({0.3, 0.1}, {0.7 + 1.5 * turns, 0.2}, 1.5, 0.8),
                Value({0.3, 0.1}, {0.7, 0.2}, 1.5, 0.8), 1e-10);
  }
  EXPECT_EQ(Value({5}, {5 - 2.0}, 2, 0.1), 1);
}

}  // namespace
}  // namespace kweave
