#include "kernel/matern.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace kweave {
namespace {

double Value(double nu, double length_scale, double squared_distance) {
  return ShapeValue(*kMatern.shape, {nu, length_scale}, squared_distance);
}

TEST(Matern, ValuesByHand) {
  const double root3 = std::numbers::sqrt3, root5 = std::sqrt(5.0), e = std::numbers::e;
  // s = 1, s = 3 and s = 2.
  EXPECT_NEAR(Value(1.5, root3, 1), 2 / e, 1e-15);
  EXPECT_NEAR(Value(1.5, 1, 3), 4 / (e * e * e), 1e-15);
  EXPECT_NEAR(Value(2.5, root5, 1), (2 + 1.0 / 3) / e, 1e-15);
  EXPECT_NEAR(Value(2.5, root5, 4), (3 + 4.0 / 3) / (e * e), 1e-15);
  EXPECT_EQ(Value(1.5, 1, 0), 1);
  EXPECT_EQ(Value(2.5, 1, 0), 1);
}

// k - 1 = -s^2/2 + s^3/3 - ... and -s^2/6 + s^4/24 - ...
TEST(Matern, KeepsTheDigitsOfWideKernels) {
  const double s = 1e-6;
  EXPECT_NEAR(kMatern.shape->value({1.5, std::numbers::sqrt3}, s * s) / (-s * s / 2 + s * s * s / 3), 1,
              1e-11);
  EXPECT_NEAR(kMatern.shape->value({2.5, std::sqrt(5.0)}, s * s) / (-s * s / 6), 1, 1e-11);
}

TEST(Matern, TwoFormsMeetWhereOneTakesOver) {
  for (const double nu : {1.5, 2.5}) {
    const KernelParameters unit = {nu, std::sqrt(2 * nu)};
    const double below = std::pow(1 - 1e-12, 2), above = 1;
    EXPECT_NEAR(kMatern.shape->value(unit, below), kMatern.shape->value(unit, above), 1e-12);
  }
}

}  // namespace
}  // namespace kweave
