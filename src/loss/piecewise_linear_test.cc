#include "loss/piecewise_linear.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kweave {
namespace {

double ValueAt(const std::vector<Corner>& corners, double left_slope, double b) {
  double value = left_slope * b;
  for (const Corner& corner : corners) value += corner.jump * std::max(b - corner.at, 0.0);
  return value;
}

TEST(LowestPoint, EdgesOfTheFunction) {
  EXPECT_EQ(LowestPoint({}, -1), 0);
  EXPECT_EQ(LowestPoint({{3, 1}, {2, 1}}, 0), 2);     // never falls
  EXPECT_EQ(LowestPoint({{3, 1}, {2, 1}}, -5), 3);    // falls for ever
  EXPECT_EQ(LowestPoint({{3, 1}, {2, 1}}, -1), 2.5);  // flat between the two
}

RC_GTEST_PROP(LowestPointProperty, NoCornerLiesLower, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 150);
  std::vector<Corner> corners(n);
  double total = 0;
  for (Corner& corner : corners) {
    corner = {*rc::gen::inRange(-20, 20) / 8.0, *rc::gen::inRange(1, 4) / 10.0};  // coarse: many ties
    total += corner.jump;
  }
  const double left = -total * *rc::gen::inRange(1, 100) / 100.0;
  double best = std::numeric_limits<double>::infinity();
  for (const Corner& corner : corners) best = std::min(best, ValueAt(corners, left, corner.at));
  RC_ASSERT(ValueAt(corners, left, LowestPoint(corners, left)) <= best + 1e-12 * (1 + total));
}

}  // namespace
}  // namespace kweave
