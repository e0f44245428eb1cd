#include "qp/row_cache.h"

#include <gtest/gtest.h>

namespace kweave {
namespace {

void Put(RowCache<float>& cache, Index key) { cache.Insert(key)[0] = static_cast<float>(key); }

TEST(RowCache, KeepsEverythingThatFits) {
  RowCache<float> cache(5, 3, 5);
  for (Index key = 0; key < 5; ++key) Put(cache, key);
  EXPECT_TRUE(cache.is_full());
  for (Index key = 0; key < 5; ++key) EXPECT_EQ(cache.Find(key)[0], static_cast<float>(key));
}

TEST(RowCache, ForgetsTheLeastRecentlyUsed) {
  RowCache<float> cache(10, 1, 3);
  for (Index key = 0; key < 3; ++key) Put(cache, key);
  cache.Find(0);
  Put(cache, 3);
  EXPECT_FALSE(cache.Contains(1));
  EXPECT_EQ(cache.Find(1), nullptr);
  EXPECT_EQ(cache.Find(0)[0], 0);
  Put(cache, 4);
  EXPECT_FALSE(cache.Contains(2));
  EXPECT_TRUE(cache.Contains(0));
  EXPECT_EQ(cache.Find(3)[0], 3);
}

TEST(RowCache, OneRow) {
  RowCache<double> cache(4, 2, 1);
  cache.Insert(2)[1] = 7;
  EXPECT_EQ(cache.Find(2)[1], 7);
  cache.Insert(3)[1] = 8;
  EXPECT_FALSE(cache.Contains(2));
  EXPECT_EQ(cache.Find(3)[1], 8);
}

TEST(RowCache, SlotsCanBeWrittenInAdvanceUntilOneMustBeReused) {
  RowCache<float> cache(10, 5, 4);
  Put(cache, 9);
  float* slots = cache.NextSlots(3);
  ASSERT_NE(slots, nullptr);
  for (Index r = 0; r < 3; ++r) EXPECT_EQ(cache.Insert(r), slots + r * cache.stride());
  EXPECT_EQ(cache.NextSlots(1), nullptr);
}

TEST(RowCache, ClearForgetsAll) {
  RowCache<float> cache(3, 1, 2);
  Put(cache, 0);
  Put(cache, 1);
  cache.Clear();
  for (Index key = 0; key < 3; ++key) EXPECT_FALSE(cache.Contains(key));
  Put(cache, 2);
  EXPECT_EQ(cache.Find(2)[0], 2);
}

}  // namespace
}  // namespace kweave
