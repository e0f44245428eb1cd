#include "model/cbor_depth.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "model/json.h"

namespace kweave {
namespace {

std::vector<std::uint8_t> Nested(int depth) {
  std::vector<std::uint8_t> bytes(depth, 0x81);  // an array of one
  bytes.push_back(0);
  return bytes;
}

TEST(CborDepth, AcceptsWhatTheWriterWrites) {
  const Json json = {{"numbers", {1, -2, 3.5, 1e300, nullptr, true}},
                     {"text", std::string(300, 'x')},
                     {"blob", Json::binary(std::vector<std::uint8_t>(70000, 7))},
                     {"empty", Json::object()}};
  EXPECT_TRUE(IsCborWithinDepth(Json::to_cbor(json), 4));
  EXPECT_FALSE(IsCborWithinDepth(Json::to_cbor(json), 1));
}

TEST(CborDepth, BoundsNesting) {
  EXPECT_TRUE(IsCborWithinDepth(Nested(32), 32));
  EXPECT_FALSE(IsCborWithinDepth(Nested(33), 32));
  EXPECT_FALSE(IsCborWithinDepth(Nested(5000000), 32));
}

TEST(CborDepth, RefusesImpossibleLengthsAndLeftovers) {
  EXPECT_FALSE(IsCborWithinDepth({}, 4));
  EXPECT_FALSE(IsCborWithinDepth(std::vector<std::uint8_t>{0x00, 0x00}, 4));
  EXPECT_FALSE(IsCborWithinDepth(std::vector<std::uint8_t>{0x5b, 255, 255, 255, 255, 255, 255, 255, 255}, 4));
  EXPECT_FALSE(IsCborWithinDepth(std::vector<std::uint8_t>{0xbb, 255, 255, 255, 255, 255, 255, 255, 255}, 4));
  EXPECT_FALSE(IsCborWithinDepth(std::vector<std::uint8_t>{0x9f, 0xff}, 4));
}

TEST(CborDepth, WhatItAcceptsTheReaderSurvives) {
  rc::check("from_cbor", [](const std::vector<std::uint8_t>& bytes) {
    if (!IsCborWithinDepth(bytes, 8)) return;
    const Json json = Json::from_cbor(bytes, true, false);
    RC_CLASSIFY(!json.is_discarded());
  });
}

}  // namespace
}  // namespace kweave
