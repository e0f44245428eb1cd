#include "compute/cpu/class_loops.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/constants.h"
#include "base/random.h"

namespace kweave {
namespace {

/// Runs `body` with vectors of every instruction set this machine has, at lengths around theirs, one value
/// off their alignment.
template <class Body>
void ForEveryLength(const Body& body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    for (const Index size : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 26, 66}) body(size);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Whole numbers, so that equal ones happen and sums are exact.
std::vector<double> Draw(Index size, Random& random) {
  std::vector<double> values;
  for (Index k = 0; k <= size; ++k) values.push_back(static_cast<double>(random.Below(9)) - 4);
  return values;
}

TEST(ClassLoops, LowersToDifferences) {
  ForEveryLength([](Index size) {
    Random random(static_cast<std::uint64_t>(size));
    const std::vector<double> row = Draw(size, random);
    std::vector<double> out = Draw(size, random);
    out[static_cast<std::size_t>(size / 2)] = kInfinity;
    std::vector<double> expected = out;
    for (std::size_t k = 1; k < out.size(); ++k) expected[k] = std::min(expected[k], 1.5 - row[k]);
    LowerToDifferences(1.5, row.data() + 1, out.data() + 1, size);
    EXPECT_EQ(out, expected);
  });
}

TEST(ClassLoops, FindsTheLargestSum) {
  ForEveryLength([](Index size) {
    Random random(static_cast<std::uint64_t>(size));
    const std::vector<double> a = Draw(size, random), b = Draw(size, random);
    double expected = -kInfinity;
    for (std::size_t k = 1; k < a.size(); ++k) expected = std::max(expected, a[k] + b[k]);
    EXPECT_EQ(LargestSum(a.data() + 1, b.data() + 1, size), expected);
  });
}

TEST(ClassLoops, RelaxesWhatIsLongerByMoreThanRounding) {
  ForEveryLength([](Index size) {
    Random random(static_cast<std::uint64_t>(size));
    std::vector<double> lengths = Draw(size, random), to = Draw(size, random);
    lengths[static_cast<std::size_t>(size / 2)] = kInfinity;
    to.back() = 2 + lengths.back() + 1e-15;
    std::vector<Index> before(to.size(), -1);
    std::vector<double> expected = to;
    std::vector<Index> expected_before = before;
    for (std::size_t k = 1; k < to.size(); ++k) {
      if (!(2 + lengths[k] < to[k] - 1e-12)) continue;
      expected[k] = 2 + lengths[k];
      expected_before[k] = 7;
    }
    const bool is_any_longer = expected_before != before;
    EXPECT_EQ(RelaxPaths(2, lengths.data() + 1, 7, to.data() + 1, before.data() + 1, size), is_any_longer);
    EXPECT_EQ(to, expected);
    EXPECT_EQ(before, expected_before);
  });
}

}  // namespace
}  // namespace kweave
