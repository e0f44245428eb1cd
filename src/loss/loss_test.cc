// What holds for every line of the table, so that a new loss is checked as soon as it is listed.
#include "loss/loss.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace kweave {
namespace {

TEST(LossTable, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const LossRecord& record : LossTable()) EXPECT_TRUE(names.insert(record.name).second) << record.name;
}

/// A target of the loss's task.
double AnyTarget(Task task) {
  if (task == Task::kRegress) return *rc::gen::inRange(-20, 21) / 10.0;
  return task == Task::kOneClass || *rc::gen::arbitrary<bool>() ? 1 : -1;
}

RC_GTEST_PROP(LossTableProperty, DualBoundsTheLossAndTouchesIt, ()) {
  for (const LossRecord& record : LossTable()) {
    const auto loss = record.make({});
    const double y = AnyTarget(record.task);
    const double C = *rc::gen::inRange(1, 1000) / 100.0;
    const Interval feasible = loss->Feasible(y, C);
    const double beta =
        feasible.lower + (feasible.upper - feasible.lower) * *rc::gen::inRange(0, 101) / 100.0;
    double slack = std::numeric_limits<double>::infinity();
    for (int step = -400; step <= 400; ++step) {
      const double f = step / 100.0;
      slack = std::min(slack, C * loss->Value(f, y) + beta * f - loss->Dual(beta, y, C));
    }
    RC_ASSERT(std::abs(slack) <= 1e-12 * C);
  }
}

RC_GTEST_PROP(LossTableProperty, PieceIsTheDualAroundBeta, ()) {
  for (const LossRecord& record : LossTable()) {
    const auto loss = record.make({});
    const double y = AnyTarget(record.task);
    const double C = *rc::gen::inRange(10, 1000) / 100.0;
    const Interval feasible = loss->Feasible(y, C);
    const double beta = *rc::gen::element(
        0.0, feasible.lower + (feasible.upper - feasible.lower) * *rc::gen::inRange(1, 100) / 100.0);
    const double f = *rc::gen::inRange(-400, 401) / 100.0;
    const DualPiece piece = loss->PieceAt(beta, f, y, C);
    RC_ASSERT(piece.range.lower <= beta && beta <= piece.range.upper);
    RC_ASSERT(feasible.lower <= piece.range.lower && piece.range.upper <= feasible.upper);
    const double at = loss->Dual(beta, y, C);
    for (const double step : {-1e-4, 1e-4}) {
      const double moved = beta + step;
      if (moved < piece.range.lower || moved > piece.range.upper) continue;
      const double expected = at + step * piece.slope - 0.5 * step * step * piece.curvature;
      RC_ASSERT(std::abs(loss->Dual(moved, y, C) - expected) <= 1e-10 * (1 + C));
    }
  }
}

}  // namespace
}  // namespace kweave
