#include "weights/run/account.h"

#include <gtest/gtest.h>

namespace kweave {
namespace {

TEST(RunAccount, KeepsTheBestBounds) {
  const Context context;
  RunControl control(context);
  RunAccount account(1e-2, control);
  EXPECT_TRUE(account.LowerPrimal(10));
  EXPECT_FALSE(account.LowerPrimal(11));
  EXPECT_TRUE(account.RaiseDual(8));
  EXPECT_FALSE(account.RaiseDual(7));
  EXPECT_EQ(account.gap(), 2);
  EXPECT_DOUBLE_EQ(account.relative_gap(), 0.2);
  account.Record({.solves = 3, .fallbacks = 1}, 2);
  ASSERT_EQ(account.history().size(), 1u);
  EXPECT_EQ(account.history()[0].primal, 10);
  EXPECT_EQ(account.history()[0].dual, 8);
  EXPECT_EQ(account.history()[0].solves, 3);
  EXPECT_EQ(account.history()[0].fallbacks, 1);
  account.Forget();
  EXPECT_TRUE(account.LowerPrimal(11));
}

TEST(RunAccount, ARepeatedRowReplacesTheLast) {
  const Context context;
  RunControl control(context);
  RunAccount account(1e-2, control);
  account.LowerPrimal(10);
  account.Record({.solves = 1}, 0);
  account.LowerPrimal(9);
  account.Record({.solves = 2}, 0, /*is_repeated=*/true);
  account.RecordMeasure({.primal = 5, .relative_gap = 0.5}, 1);
  ASSERT_EQ(account.history().size(), 2u);
  EXPECT_EQ(account.history()[0].solves, 2);
  EXPECT_EQ(account.history()[0].primal, 9);
  EXPECT_EQ(account.history()[1].primal, 5);
  EXPECT_EQ(account.history()[1].relative_gap, 0.5);
}

TEST(RunAccount, CertificatesAreAskedWhenEstimatesAreGoodEnoughAndNotForEver) {
  const Context context;
  RunControl control(context);
  RunAccount account(1e-2, control);
  account.LowerPrimal(100);
  account.RaiseDual(99);
  EXPECT_FALSE(account.IsWorthCertifying());  // at the target, but the certificate adds a little
  account.RaiseDual(99.2);
  EXPECT_TRUE(account.IsWorthCertifying());
  account.NoteRefusal();
  account.LowerAim();
  EXPECT_FALSE(account.IsWorthCertifying());
  account.RaiseDual(99.9);
  EXPECT_TRUE(account.IsWorthCertifying());
  for (int k = 0; k < 10; ++k) account.NoteRefusal();
  EXPECT_TRUE(account.HasGivenUp());
  EXPECT_FALSE(account.IsWorthCertifying());
}

TEST(RunAccount, TellsProgressFromCrawling) {
  const Context context;
  RunControl control(context);
  RunAccount account(1e-6, control);
  account.LowerPrimal(10);
  account.RaiseDual(0);
  EXPECT_TRUE(account.NotesProgress());
  account.CountStep();
  account.RaiseDual(0.1);
  EXPECT_FALSE(account.NotesProgress());
  account.CountStep();
  EXPECT_EQ(account.steps_since_progress(), 2);
  EXPECT_TRUE(
      account.NotesProgress(/*clear_rise=*/1e-3));  // the dual rose by more than that share of the gap
  EXPECT_EQ(account.steps_since_progress(), 0);
  account.RaiseDual(5);
  EXPECT_TRUE(account.NotesProgress());
}

TEST(RunWork, AddsUp) {
  RunWork work{.iterations = 1, .solves = 2, .solve_seconds = 3};
  work += {.iterations = 10, .solves = 20, .weight_seconds = 30};
  EXPECT_EQ(work.iterations, 11);
  EXPECT_EQ(work.solves, 22);
  EXPECT_EQ(work.solve_seconds, 3);
  EXPECT_EQ(work.weight_seconds, 30);
}

}  // namespace
}  // namespace kweave
