#include "kernel/normalizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kweave/error.h"

namespace kweave {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Normalizer, ReadsLists) {
  EXPECT_THAT(ParseNormalizers("none"), IsEmpty());
  EXPECT_THAT(ParseNormalizers(" center , spherical,center"),
              ElementsAre(Normalizer::kCenter, Normalizer::kSpherical, Normalizer::kCenter));
  EXPECT_THAT(ParseNormalizers("trace,multiplicative"),
              ElementsAre(Normalizer::kTrace, Normalizer::kMultiplicative));
}

TEST(Normalizer, NamesReadBack) {
  for (Normalizer normalizer :
       {Normalizer::kTrace, Normalizer::kMultiplicative, Normalizer::kSpherical, Normalizer::kCenter}) {
    EXPECT_THAT(ParseNormalizers(ToString(normalizer)), ElementsAre(normalizer));
  }
}

TEST(Normalizer, BadListsSayWhatWasExpected) {
  for (const char* list : {"", "spherical,", ",", "none,trace", "sperical", "Trace", "center center"}) {
    try {
      ParseNormalizers(list);
      ADD_FAILURE() << list << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), HasSubstr("normalization \"" + std::string(list) + "\"")) << list;
      if (std::string(list) != "none,trace") {
        EXPECT_THAT(error.what(), HasSubstr("trace, multiplicative, spherical, center")) << list;
      }
    }
  }
}

}  // namespace
}  // namespace kweave
