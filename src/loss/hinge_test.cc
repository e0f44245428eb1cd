#include "loss/hinge.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kweave {
namespace {

double TotalLoss(const std::vector<double>& f, const std::vector<double>& y, const std::vector<double>& C,
                 double b) {
  const HingeLoss hinge;
  double sum = 0;
  for (std::size_t i = 0; i < f.size(); ++i) sum += C[i] * hinge.Value(f[i] + b, y[i]);
  return sum;
}

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

RC_GTEST_PROP(HingeProperty, NoCornerBeatsTheBestBias, (unsigned size)) {
  const HingeLoss hinge;
  const std::size_t n = 1 + size % 40;
  std::vector<double> f(n), y(n), C(n);
  for (std::size_t i = 0; i < n; ++i) {
    f[i] = *rc::gen::inRange(-20, 20) / 8.0;  // coarse, so that ties are frequent
    y[i] = *rc::gen::arbitrary<bool>() ? 1 : -1;
    C[i] = *rc::gen::inRange(1, 4) / 10.0;
  }
  const double found = TotalLoss(f, y, C, hinge.BestBias(f, y, C, 0));
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) best = std::min(best, TotalLoss(f, y, C, y[i] - f[i]));
  RC_ASSERT(std::abs(found - best) <= 1e-12 * (1 + best));
}

// Holds for every line of the table, so that a new loss is checked as soon as it is listed.
RC_GTEST_PROP(LossTableProperty, DualBoundsTheLossAndTouchesIt, ()) {
  for (const LossRecord& record : LossTable()) {
    const double y = *rc::gen::arbitrary<bool>() ? 1 : -1;
    const double C = *rc::gen::inRange(1, 1000) / 100.0;
    const Interval feasible = record.loss->Feasible(y, C);
    const double beta =
        feasible.lower + (feasible.upper - feasible.lower) * *rc::gen::inRange(0, 101) / 100.0;
    double slack = std::numeric_limits<double>::infinity();
    for (int step = -400; step <= 400; ++step) {
      const double f = step / 100.0;
      slack = std::min(slack, C * record.loss->Value(f, y) + beta * f - record.loss->Dual(beta, y, C));
    }
    RC_ASSERT(std::abs(slack) <= 1e-12 * C);
  }
}

}  // namespace
}  // namespace kweave
