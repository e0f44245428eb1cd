#include "kernel/rational_quadratic.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kweave {
namespace {

double Value(double alpha, double length_scale, double squared_distance) {
  return ShapeValue(*kRationalQuadratic.shape, {alpha, length_scale}, squared_distance);
}

TEST(RationalQuadratic, ValuesByHand) {
  EXPECT_NEAR(Value(1, 1, 2), 1.0 / 2, 1e-15);
  EXPECT_NEAR(Value(2, 1, 4), 1.0 / 4, 1e-15);
  EXPECT_NEAR(Value(0.5, 2, 12), 1.0 / 2, 1e-15);  // (1 + 12/4)^-1/2
  EXPECT_EQ(Value(0.5, 2, 0), 1);
}

TEST(RationalQuadratic, BecomesAGaussian) {
  for (const double b : {0.01, 1.0, 7.0}) EXPECT_NEAR(Value(1e10, 1.5, b), std::exp(-b / 4.5), 1e-9);
}

TEST(RationalQuadratic, KeepsTheDigitsOfWideKernels) {
  EXPECT_NEAR(kRationalQuadratic.shape->value({3, 1}, 1e-12) / (-0.5e-12), 1, 1e-11);
}

}  // namespace
}  // namespace kweave
