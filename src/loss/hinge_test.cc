#include "loss/hinge.h"

#include <gtest/gtest.h>

#include <vector>

namespace kweave {
namespace {

TEST(Hinge, BestBiasIsTheMiddleOfAFlatOptimum) {
  const HingeLoss hinge;
  const std::vector<double> f = {2, -2}, y = {1, -1}, C = {1, 1};
  EXPECT_DOUBLE_EQ(hinge.BestBias(f, y, C, 0), 0);  // any b in [-1, 1] costs nothing
}

TEST(Hinge, BestBiasOfOneClassAndOfNothing) {
  const HingeLoss hinge;
  const std::vector<double> f = {0.5, 2}, C = {1, 3};
  EXPECT_DOUBLE_EQ(hinge.BestBias(f, std::vector<double>{1, 1}, C, 0), 0.5);
  EXPECT_DOUBLE_EQ(hinge.BestBias(f, std::vector<double>{-1, -1}, C, 0), -3);
  EXPECT_EQ(hinge.BestBias({}, {}, {}, 0), 0);
}

}  // namespace
}  // namespace kweave
