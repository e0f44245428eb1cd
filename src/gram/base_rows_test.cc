#include "gram/base_rows.h"

#include <gtest/gtest.h>

#include <numeric>

namespace kweave {
namespace {

// The quantity of row i and column j is 1000 i + j.
class CountingBlock : public BaseBlock<float> {
 public:
  void GatherLeft(std::span<const Index>, AlignedVector<float>&) const override {}
  void Compute(std::span<const Index> rows, const AlignedVector<float>&, Index begin, Index end, float* out,
               Index stride) const override {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (Index j = begin; j < end; ++j) out[static_cast<Index>(r) * stride + j - begin] = Value(rows[r], j);
    }
  }
  double LeftDiagonal(Index) const override { return 0; }
  double RightDiagonal(Index) const override { return 0; }

  static float Value(Index i, Index j) { return static_cast<float>(1000 * i + j); }
};

constexpr Index kColumns = 700;  // two blocks

BaseRows<float> MakeRows(Index rows) { return {std::make_unique<CountingBlock>(), rows, kColumns}; }

// Reads the rows, block after block of columns, and expects their values.
void ExpectRead(BaseRows<float>& base, const std::vector<Index>& rows, bool may_evict) {
  const auto batch = base.Prepare(rows, may_evict);
  for (const Index begin : {Index{0}, Index{512}}) {
    const Index end = std::min(begin + 512, kColumns);
    std::vector<float> scratch(rows.size() * static_cast<std::size_t>(end - begin));
    std::vector<const float*> pointers;
    base.Read(batch, begin, end, scratch.data(), pointers);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (Index j = begin; j < end; ++j) {
        ASSERT_EQ(pointers[r][j - begin], CountingBlock::Value(rows[r], j)) << rows[r];
      }
    }
  }
  base.Commit(batch);
}

TEST(BaseRows, ReadsWhatItKeepsAndWhatItDoesNot) {
  for (const Index capacity : {0, 3, 70, 200}) {
    BaseRows<float> base = MakeRows(150);
    base.SetCapacity(capacity);
    for (const bool may_evict : {false, true}) {
      ExpectRead(base, {5, 1, 149}, may_evict);      // in their places one after the other
      ExpectRead(base, {1, 2, 5, 7, 9}, may_evict);  // some kept, some not
      std::vector<Index> all(150);
      std::iota(all.begin(), all.end(), Index{0});
      ExpectRead(base, all, may_evict);
    }
  }
}

// Whatever was kept before, on more threads than there are slabs.
TEST(BaseRows, KeepsAllRowsAfterSome) {
  ThreadPool pool(4);
  for (const Index rows : {10, 64, 150}) {
    for (const Index capacity : {0, 5, 10, 64, 100}) {
      BaseRows<float> base = MakeRows(rows);
      base.SetCapacity(capacity);
      std::vector<Index> some;
      for (Index i = 0; i < rows; i += 2) some.push_back(i);
      ExpectRead(base, some, /*may_evict=*/false);
      base.KeepAll(pool);
      ASSERT_TRUE(base.is_complete());
      for (Index i = 0; i < rows; ++i) {
        ASSERT_NE(base.Kept(i), nullptr);
        for (Index j = 0; j < kColumns; ++j) ASSERT_EQ(base.Kept(i)[j], CountingBlock::Value(i, j));
      }
    }
  }
}

TEST(BaseRows, ComputesNoRowTwiceToKeepAll) {
  ThreadPool pool(1);
  BaseRows<float> base = MakeRows(100);
  base.SetCapacity(100);
  ExpectRead(base, {0, 1, 2}, /*may_evict=*/false);
  base.KeepAll(pool);
  EXPECT_EQ(base.values_computed(), 100 * kColumns);
}

}  // namespace
}  // namespace kweave
