#include "kernel/cosine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kweave {
namespace {

TEST(Cosine, ValuesByHand) {
  const std::vector<double> x = {3, 4}, z = {4, 3}, opposite = {-6, -8}, zero = {0, 0};
  const auto value = [](const auto& a, const auto& b) { return kCosine.base->plain(a, b, 0); };
  EXPECT_DOUBLE_EQ(value(x, z), 24.0 / 25);
  EXPECT_DOUBLE_EQ(value(x, opposite), -1);
  EXPECT_DOUBLE_EQ(value(x, x), 1);
  EXPECT_EQ(value(x, zero), 0);
  EXPECT_EQ(value(zero, zero), 0);
}

TEST(Cosine, KeepsLargeAndSmallNormsOfFloatsApart) {
  float values[] = {1e30F, 0, 0.5e-30F};
  const float norms[] = {1e30F, 0, 1e-36F};
  kCosine.base->finish_f32(values, 3, 1e30F, norms);
  EXPECT_FLOAT_EQ(values[0], 1);
  EXPECT_EQ(values[1], 0);
  EXPECT_FLOAT_EQ(values[2], 0.5e-30F / (1e15F * 1e-18F));
}

}  // namespace
}  // namespace kweave
