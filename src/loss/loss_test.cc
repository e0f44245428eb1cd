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

/// Anywhere in the feasible interval, or in a wide part of it where it has no end; the ends now and then.
double AnyBeta(const Interval& feasible, double C) {
  const double lower = std::max(feasible.lower, -5 * C), upper = std::min(feasible.upper, 5 * C);
  return lower + (upper - lower) * (*rc::gen::inRange(0, 101) / 100.0);
}

// The slope of the dual term at beta is the f at which loss and bound meet.
RC_GTEST_PROP(LossTableProperty, DualBoundsTheLossAndTouchesIt, ()) {
  for (const LossRecord& record : LossTable()) {
    const auto loss = record.make({});
    const double y = AnyTarget(record.task);
    const double C = *rc::gen::inRange(1, 1000) / 100.0;
    const double beta = AnyBeta(loss->Feasible(y, C), C);
    const double dual = loss->Dual(beta, y, C);
    const double rounding = 1e-13 * (C + std::abs(dual));
    for (int step = -400; step <= 400; ++step) {
      const double f = step / 100.0;
      RC_ASSERT(C * loss->Value(f, y) + beta * f - dual >= -4 * rounding);
    }
    const double f = loss->PieceAt(beta, 0, y, C).slope;
    RC_ASSERT(std::abs(C * loss->Value(f, y) + beta * f - dual) <= 1e2 * rounding);
  }
}

RC_GTEST_PROP(LossTableProperty, PieceIsTheDualAroundBeta, ()) {
  for (const LossRecord& record : LossTable()) {
    const auto loss = record.make({});
    const double y = AnyTarget(record.task);
    const double C = *rc::gen::inRange(10, 1000) / 100.0;
    const Interval feasible = loss->Feasible(y, C);
    const double beta = *rc::gen::element(0.0, AnyBeta(feasible, C));
    const double f = *rc::gen::inRange(-400, 401) / 100.0;
    const DualPiece piece = loss->PieceAt(beta, f, y, C);
    RC_ASSERT(piece.range.lower <= beta && beta <= piece.range.upper);
    RC_ASSERT(feasible.lower <= piece.range.lower && piece.range.upper <= feasible.upper);
    const double at = loss->Dual(beta, y, C);
    const double below = beta - piece.range.lower, above = piece.range.upper - beta;
    for (const double direction : {-1.0, 1.0}) {
      // Derivatives of all orders may grow towards an end, but not faster than one over the way to it.
      const double room = piece.curvature > 0 ? std::min(below, above) : direction < 0 ? below : above;
      const double step = direction * 1e-3 * std::min(room, 1.0);
      const double expected = at + step * piece.slope - 0.5 * step * step * piece.curvature;
      RC_ASSERT(std::abs(loss->Dual(beta + step, y, C) - expected) <=
                1e-3 * step * step * piece.curvature + 1e-13 * (1 + C + std::abs(at)));
    }
  }
}

}  // namespace
}  // namespace kweave
