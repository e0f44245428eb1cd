#include "kweave/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "kweave/error.h"
#include "loss/loss.h"

namespace kweave {
namespace {

std::string Refusal(const std::function<void(TrainOptions&)>& change) {
  TrainOptions options;
  change(options);
  try {
    Validate(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "accepted";
}

TEST(Validate, AcceptsTheDefaultsAndTheEndsOfRanges) {
  EXPECT_EQ(Refusal([](TrainOptions&) {}), "accepted");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.norm = 1; }), "accepted");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.norm = std::numeric_limits<double>::infinity(); }), "accepted");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.normalize = "spherical,center"; }), "accepted");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.sample_weights = {0, 1}; }), "accepted");
}

TEST(Validate, NamesFieldValueAndRule) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.C = 0; }), "C is 0, expected above 0");
  EXPECT_EQ(Refusal([&](TrainOptions& o) { o.C = nan; }), "C is nan, expected above 0");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.norm = 0.5; }), "norm is 0.5, expected 1 to inf");
  EXPECT_EQ(Refusal([&](TrainOptions& o) { o.norm = nan; }), "norm is nan, expected 1 to inf");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.gap = 0; }), "gap is 0, expected above 0, at most 1");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.task = "cluster"; }),
            "task 'cluster' is not available; available: classify, regress, oneclass");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.epsilon = -1; }), "epsilon is -1, expected 0 or more");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.nu = 0; }), "nu is 0, expected above 0, at most 1");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.nu = 1.5; }), "nu is 1.5, expected above 0, at most 1");
  EXPECT_THAT(Refusal([](TrainOptions& o) { o.method = "nonsense"; }),
              ::testing::HasSubstr("auto, analytic"));
  EXPECT_THAT(Refusal([](TrainOptions& o) { o.normalize = "fancy"; }), ::testing::HasSubstr("fancy"));
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.max_iterations = -1; }),
            "max-iterations is -1, expected 0 or more");
  EXPECT_EQ(Refusal([](TrainOptions& o) {
              o.sample_weights = {1, -1};
            }),
            "weight of sample 2 is -1, expected 0 or more");
  EXPECT_EQ(Refusal([](TrainOptions& o) {
              o.class_weights = {{"a", 0}};
            }),
            "class weight of 'a' is 0, expected above 0");
}

TEST(Validate, NamesTheLossesOfTheTask) {
  const auto refusal = [](const std::string& task, const std::string& loss, bool bias) {
    return Refusal([&](TrainOptions& o) {
      o.task = task;
      o.loss = loss;
      o.bias = bias;
    });
  };
  EXPECT_EQ(
      refusal("regress", "hinge", true),
      "loss 'hinge' serves another task; available for task regress: auto, epsilon-insensitive, squared");
  EXPECT_THAT(refusal("classify", "absolute", true), ::testing::HasSubstr("'absolute' does not exist"));
  EXPECT_THAT(refusal("oneclass", "one-class", false), ::testing::HasSubstr("available: auto"));
  EXPECT_EQ(refusal("oneclass", "auto", false), "accepted");
  EXPECT_EQ(refusal("regress", "squared", false), "accepted");
  EXPECT_EQ(Refusal([](TrainOptions& o) {
              o.task = "regress";
              o.class_weights = {{"1", 2}};
            }),
            "task regress has no classes to weigh");
  EXPECT_EQ(Refusal([](TrainOptions& o) {
              o.multiclass = "joint";
              o.solver = "smo";
            }),
            "multiclass joint has a solver of its own: solver auto, not smo");
}

TEST(OptionRecords, NameEveryLoss) {
  const auto records = TrainOptionRecords();
  const auto record = std::ranges::find(records, "loss", &OptionRecord::name);
  ASSERT_NE(record, records.end());
  for (const LossRecord& loss : LossTable()) {
    EXPECT_THAT(std::string(record->range), ::testing::HasSubstr(std::string(loss.name)));
  }
}

TEST(OptionRecords, AreComplete) {
  for (const OptionRecord& record : TrainOptionRecords()) {
    EXPECT_FALSE(record.name.empty() || record.sentence.empty() || record.range.empty() ||
                 record.fallback.empty())
        << record.name;
  }
}

}  // namespace
}  // namespace kweave
