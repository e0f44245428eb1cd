#include "compute/cpu/match_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "compute/cpu/test_letters.h"

namespace kweave {
namespace {

template <class T>
void ExpectValues(const TestLetters& letters, const RunWeights& weights, Index shift) {
  const LetterPlanes planes(letters.packed());
  const std::vector<Index> rows{0, planes.size() - 1, planes.size() / 2};
  const Index stride = planes.size() + 3;
  std::vector<T> out(rows.size() * Offset(stride), T{1});
  AddRunValues(planes, rows, planes, 0, planes.size(), RunTable<T>(weights, shift), out.data(), stride);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (Index j = 0; j < planes.size(); ++j) {
      const double expected = 1 + letters.Value(rows[r], j, weights, shift);
      EXPECT_NEAR(out[r * Offset(stride) + Offset(j)], expected,
                  400 * expected * static_cast<double>(std::numeric_limits<T>::epsilon()))
          << rows[r] << " " << j;
    }
    EXPECT_EQ(out[r * Offset(stride) + Offset(planes.size())], 1);  // nothing behind the last one
  }
}

// Around words of 32 positions and groups of 16 sequences; degrees around the lanes of tables.
TEST(MatchRuns, AddsWhatRunsAreWorth) {
  std::uint64_t seed = 1;
  Random random(7);
  for (const Index length : {1, 2, 31, 32, 33, 64, 70, 131}) {
    for (const int degree : {1, 3, 4, 7, 8, 15, 16, 20, 31, 32, 40}) {
      const Index count = std::vector<Index>{1, 15, 16, 17, 34}[Offset(random.Below(5))];
      for (const int bits : {2, 5, 8}) {
        const TestLetters letters(count, length, bits, random.Below(2) == 0, ++seed);
        const Index first = random.Below(length), last = first + 1 + random.Below(length - first);
        for (const bool is_same : {true, false}) {
          SCOPED_TRACE(testing::Message() << length << " letters of " << bits << " bits, degree " << degree
                                          << (is_same ? " everywhere" : "") << ", " << count << " sequences");
          const RunWeights weights = TestWeights(length, degree, is_same, first, last, random);
          ExpectValues<float>(letters, weights, 0);
          ExpectValues<double>(letters, weights, 0);
        }
      }
    }
  }
}

TEST(MatchRuns, ComparesShiftedLetters) {
  Random random(8);
  for (const Index length : {1, 33, 64, 100}) {
    const TestLetters letters(18, length, 2, length == 33, 5, 4);
    for (const Index shift : {-40, -32, -3, -1, 1, 2, 31, 32, 33}) {
      SCOPED_TRACE(testing::Message() << length << " letters, shift " << shift);
      ExpectValues<float>(letters, TestWeights(length, 5, true, 0, length, random), shift);
      ExpectValues<double>(letters, TestWeights(length, 5, false, length / 3, length, random), shift);
    }
  }
}

TEST(MatchRuns, TakesSomeSequencesAndColumns) {
  Random random(9);
  const TestLetters letters(50, 40, 5, true, 3);
  const RunWeights weights = TestWeights(40, 6, false, 3, 30, random);
  const std::vector<Index> some{49, 3, 3, 17};
  const SelectedLetters selected(letters.packed(), some);
  const LetterPlanes left(selected.letters()), right(letters.packed());
  std::vector<double> out(2 * 19, 0.0);
  AddRunValues(left, std::vector<Index>{1, 3}, right, 16, 35, RunTable<double>(weights), out.data(), 19);
  for (Index j = 16; j < 35; ++j) {
    EXPECT_NEAR(out[Offset(j - 16)], letters.Value(3, j, weights), 1e-12);
    EXPECT_NEAR(out[Offset(19 + j - 16)], letters.Value(17, j, weights), 1e-12);
  }
}

}  // namespace
}  // namespace kweave
