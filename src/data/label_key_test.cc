#include "data/label_key.h"

#include <gtest/gtest.h>

namespace kweave {
namespace {

TEST(LabelKey, SpellingsOfOneNumberAreOneClass) {
  for (const char* spelling : {"1", "+1", "1.0", "1.", "1e0", "10e-1"}) EXPECT_EQ(LabelKey(spelling), "1");
  for (const char* spelling : {"0", "-0", "+0.0", "0e5"}) EXPECT_EQ(LabelKey(spelling), "0");
  EXPECT_EQ(LabelKey("0.50"), LabelKey("5e-1"));
  EXPECT_EQ(LabelKey("-2.0"), "-2");
  EXPECT_EQ(LabelKey("1e20"), LabelKey("100000000000000000000"));
}

TEST(LabelKey, LeadingZerosMakeText) {
  EXPECT_NE(LabelKey("007"), LabelKey("7"));
  EXPECT_NE(LabelKey("00"), LabelKey("0"));
  EXPECT_FALSE(LabelNumber("-007"));
  EXPECT_TRUE(LabelNumber("0.7"));
}

TEST(LabelKey, LargeWholeNumbersStayApart) {
  EXPECT_NE(LabelKey("9007199254740992"), LabelKey("9007199254740993"));
  EXPECT_NE(LabelKey("9007199254740992.0"), LabelKey("9007199254740993.0"));
  EXPECT_EQ(LabelKey("9007199254740993.00"), LabelKey("+9007199254740993"));
}

TEST(LabelKey, WordsAreTheirOwnKeys) {
  for (const char* word : {"ill", "", "nan", "1x", "."}) EXPECT_EQ(LabelKey(word), word);
}

}  // namespace
}  // namespace kweave
