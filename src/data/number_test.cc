#include "data/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/random.h"

namespace kweave {
namespace {

void ExpectLikeStrtod(const std::string& text) {
  const std::optional<double> value = ToNumber(text);
  ASSERT_TRUE(value.has_value()) << text;
  const double expected = std::strtod(text.c_str(), nullptr);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(*value), std::bit_cast<std::uint64_t>(expected))
      << text << ": " << *value << " instead of " << expected;
}

TEST(Number, RoundsHardCasesCorrectly) {
  for (const char* text : {"0",
                           "-0",
                           "+0",
                           "1",
                           "-1",
                           "+1",
                           ".5",
                           "5.",
                           "0.1",
                           "1e22",
                           "1e23",
                           "9007199254740992",
                           "9007199254740993",
                           "9007199254740995",
                           "18446744073709551615",
                           "18446744073709551616",
                           "99999999999999999999",
                           "1e-22",
                           "1e-23",
                           "123456789012345678e-20",
                           "1.7976931348623157e308",
                           "1.7976931348623158e308",
                           "1.7976931348623159e308",
                           "2.2250738585072014e-308",
                           "2.2250738585072011e-308",
                           "4.9e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "1e-400",
                           "-1e-400",
                           "1e400",
                           "-1e400",
                           "1e-99999999999999999999",
                           "1e99999999999999999999",
                           "0e99999999999999999999",
                           "1E5",
                           "1e+05",
                           "1.e-3",
                           "6.02214076e23",
                           "0.000001"}) {
    ExpectLikeStrtod(text);
  }
  ExpectLikeStrtod("0." + std::string(400, '0') + "1e401");
  ExpectLikeStrtod("1" + std::string(400, '0') + "e-400");
  ExpectLikeStrtod("1" + std::string(400, '0'));
  ExpectLikeStrtod("0." + std::string(400, '0') + "1");
  ExpectLikeStrtod("1" + std::string(50, '0') + "." + std::string(1000, '9'));
  EXPECT_EQ(*ToNumber("1e309"), std::numeric_limits<double>::infinity());
}

TEST(Number, AgreesWithStrtodOnRandomText) {
  Random random(1);
  for (int trial = 0; trial < 200'000; ++trial) {
    std::string text;
    if (random.Below(3) == 0) text += random.Below(2) == 0 ? '-' : '+';
    const std::int64_t whole = random.Below(random.Below(4) == 0 ? 25 : 4);
    const std::int64_t fraction = random.Below(random.Below(4) == 0 ? 25 : 9) + (whole == 0 ? 1 : 0);
    for (std::int64_t i = 0; i < whole; ++i) text += static_cast<char>('0' + random.Below(10));
    if (fraction > 0) text += '.';
    for (std::int64_t i = 0; i < fraction; ++i) text += static_cast<char>('0' + random.Below(10));
    if (random.Below(2) == 0) text += 'e' + std::to_string(random.Below(720) - 360);
    ExpectLikeStrtod(text);
    if (HasFailure()) return;
  }
}

TEST(Number, AgreesWithStrtodOnRandomBits) {
  Random random(2);
  for (int trial = 0; trial < 100'000; ++trial) {
    const auto value = std::bit_cast<double>(random.Next());
    if (!std::isfinite(value)) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%.*g", static_cast<int>(1 + random.Below(20)), value);
    ExpectLikeStrtod(text);
    if (HasFailure()) return;
  }
}

TEST(Number, RefusesWhatIsNoDecimalNumber) {
  for (const char* text :
       {"",    "+",   "-",     ".",   "-.",  "e5",  ".e5",  "1e",       "1e+",  "1x",  "x1",    "1 ", " 1",
        "--1", "+-1", "1.2.3", "nan", "NaN", "inf", "-inf", "infinity", "0x10", "1,5", "1e5.5", "1d5"}) {
    EXPECT_FALSE(ToNumber(text).has_value()) << text;
  }
}

TEST(Number, StopsBehindTheNumber) {
  const std::string_view text = "12.5:rest";
  double value = 0;
  EXPECT_EQ(ParseNumber(text.data(), text.data() + text.size(), value), text.data() + 4);
  EXPECT_EQ(value, 12.5);
}

TEST(Number, KnowsWhatFloat32Holds) {
  for (const double value : {0.0, -0.0, 0.5, -16777216.0, 3.4028234663852886e38, 1.401298464324817e-45}) {
    EXPECT_TRUE(FitsFloat32(value)) << value;
  }
  for (const double value : {0.1, 16777217.0, 3.5e38, -1e300, 1e-46})
    EXPECT_FALSE(FitsFloat32(value)) << value;
}

}  // namespace
}  // namespace kweave
