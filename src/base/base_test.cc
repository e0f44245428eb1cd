#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "base/run_control.h"
#include "base/threads.h"
#include "kweave/error.h"
#include "kweave/nearest_name.h"
#include "kweave/option_record.h"

namespace kweave {
namespace {

TEST(ThreadPool, RunsEveryPieceOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (Index count : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> visits(count);
      pool.ParallelFor(count, 3, [&](Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) ++visits[i];
      });
      for (const auto& v : visits) EXPECT_EQ(v.load(), 1);
    }
  }
}

TEST(ThreadPool, ThrowsWhatABodyThrewAndStaysUsable) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.ParallelFor(100, 1,
                                [](Index i, Index, int) {
                                  if (i == 50) throw std::runtime_error("piece 50");
                                }),
               std::runtime_error);
  std::atomic<Index> sum{0};
  pool.ParallelFor(10, 1, [&](Index i, Index, int) { sum += i; });
  EXPECT_EQ(sum.load(), 45);
}

TEST(ThreadPool, PollsInItsLoops) {
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    int polls = 0;
    {
      const ScopedPoll poll(pool, [&] {
        if (++polls == 10) throw std::runtime_error("enough");
      });
      std::atomic<Index> pieces{0};
      const auto count_pieces = [&] {
        for (;;) pool.ParallelFor(4, 1, [&](Index, Index, int) { ++pieces; });
      };
      EXPECT_THROW(count_pieces(), std::runtime_error);
      EXPECT_EQ(polls, 10);
      EXPECT_GE(pieces.load(), 4);
    }
    pool.ParallelFor(4, 1, [](Index, Index, int) {});
    EXPECT_EQ(polls, 10) << "nobody polls any more";
  }
}

TEST(ThreadPool, PollsWhileItWaitsForOthers) {
  ThreadPool pool(2);
  std::atomic<bool> other_began = false, caller_is_done = false, stops = false;
  const ScopedPoll poll(pool, [&] {
    if (!caller_is_done) return;
    stops = true;
    throw std::runtime_error("enough");
  });
  const auto body = [&](Index, Index, int thread) {
    if (thread != 0) other_began = true;
    while (thread == 0 ? !other_began : !stops) std::this_thread::yield();
    if (thread == 0) caller_is_done = true;
  };
  EXPECT_THROW(pool.ParallelFor(2, 1, body), std::runtime_error);
}

#if defined(__has_feature)
#define KWEAVE_HAS_FEATURE(name) __has_feature(name)  // clang's way to say so
#else
#define KWEAVE_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    KWEAVE_HAS_FEATURE(address_sanitizer) || KWEAVE_HAS_FEATURE(thread_sanitizer)
constexpr bool kReservesAddressSpace = true;  // sanitizers need more of it than a limit leaves
#else
constexpr bool kReservesAddressSpace = false;
#endif

// Asks for far more threads than there is address space for their stacks.
void UseThreadsUnderLimit() {
  Index pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * sysconf(_SC_PAGESIZE) + (rlim_t{200} << 20);
  const rlimit limits{limit, limit};
  setrlimit(RLIMIT_AS, &limits);
  std::atomic<Index> sum{0};
  int size = 0;
  {
    ThreadPool pool(2000);
    size = pool.size();
    pool.ParallelFor(1000, 1, [&](Index i, Index, int thread) { sum += thread < size ? i : -1000000; });
  }
  std::exit(size < 2000 && sum == 499500 ? 0 : 1);
}

TEST(ThreadPoolDeathTest, GoesOnWithTheThreadsItGets) {
  if (kReservesAddressSpace) GTEST_SKIP();
  EXPECT_EXIT(UseThreadsUnderLimit(), ::testing::ExitedWithCode(0), "");
}

TEST(NearestName, FindsWhatWasMeant) {
  constexpr std::string_view kNames[] = {"linear", "rbf", "poly"};
  EXPECT_EQ(NearestName("rfb", kNames), "rbf");
  EXPECT_EQ(NearestName("lienar", kNames), "linear");
  EXPECT_EQ(NearestName("gauss", kNames), "");
  EXPECT_EQ(NearestName("", kNames), "");
  EXPECT_EQ(NameHint("Poly", kNames), "; did you mean \"poly\"?");
  EXPECT_EQ(NameHint("gauss", kNames), "; expected one of linear, rbf, poly");
}

TEST(Memory, ReportsSensibleNumbers) {
  EXPECT_GT(AvailableMemoryBytes(), std::size_t{1} << 20);
  EXPECT_GT(PeakMemoryBytes(), 1 << 20);
  AlignedVector<float> values(17);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % 64, 0u);
}

TEST(RunControl, TellsTheGapOfAPartFromThatOfTheModel) {
  Context context;
  std::vector<std::pair<std::string, double>> seen;
  double stage_gap = 0;
  context.progress = [&](const Progress& progress) {
    seen.emplace_back(progress.stage, progress.relative_gap);
    stage_gap = progress.stage_gap;
  };
  RunControl control(context);
  const auto report = [&](double gap) {
    std::this_thread::sleep_for(std::chrono::milliseconds(110));  // reports are not more frequent
    control.Report({.relative_gap = gap, .phase = "solve"});
    return seen.back();
  };
  using Seen = std::pair<std::string, double>;
  {
    const RunControl::Stage first(control, "machine 1 of 2");
    EXPECT_EQ(report(0.01), Seen("machine 1 of 2", 1));
    EXPECT_EQ(stage_gap, 0.01);
  }
  {
    const RunControl::Stage last(control, "machine 2 of 2", 0.3);
    {
      const RunControl::Stage part(control, "10 of 80 samples");
      EXPECT_EQ(report(0.2), Seen("machine 2 of 2, 10 of 80 samples", 1));
    }
    EXPECT_EQ(report(0.2), Seen("machine 2 of 2", 0.3));
  }
  EXPECT_EQ(report(0.05), Seen("", 0.05));
  EXPECT_EQ(stage_gap, 0.05);
}

TEST(RunControl, TicksRepeatTheLastReport) {
  std::vector<Progress> seen;
  Context context;
  context.progress = [&](const Progress& progress) { seen.push_back(progress); };
  RunControl control(context);
  control.Report({.relative_gap = 0.25, .iterations = 3, .phase = "solve"});
  control.Tick();  // too soon to be shown
  std::this_thread::sleep_for(std::chrono::milliseconds(120));
  control.Tick();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1].relative_gap, 0.25);
  EXPECT_EQ(seen[1].iterations, 3);
  EXPECT_GT(seen[1].seconds, seen[0].seconds);
}

TEST(Random, IsTheSameEverywhere) {
  Random random(0);
  EXPECT_EQ(random.Next(), 0xe220a8397b1dcdafULL);
}

TEST(NameOptions, ReplacesNamesInBackquotesAndNothingElse) {
  const auto flag = [](std::string_view name) { return "--" + std::string(name); };
  EXPECT_EQ(NameOptions("`gap` is 2, not `norm`", flag), "--gap is 2, not --norm");
  EXPECT_EQ(NameOptions("kernel `a b` and `", flag), "kernel `a b` and `");
  EXPECT_EQ(NameOptions("``gap`", flag), "`--gap");
  EXPECT_EQ(NameOptions("", flag), "");
}

TEST(OptionRange, SaysWhatItHolds) {
  const OptionRange share{.least = 0, .most = 1, .is_above = true};
  EXPECT_TRUE(share.Holds(1) && share.Holds(1e-300));
  EXPECT_FALSE(share.Holds(0) || share.Holds(1.1) || share.Holds(std::nan("")));
  const OptionRange norm{.least = 1, .has_infinity = true};
  EXPECT_TRUE(norm.Holds(1) && norm.Holds(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(norm.Holds(0.9) || norm.Holds(std::nan("")));
  EXPECT_FALSE(OptionRange{.least = 0}.Holds(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(norm.ToText(), "1 to inf");
}

}  // namespace
}  // namespace kweave
