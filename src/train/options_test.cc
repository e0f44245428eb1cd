#include "kweave/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kweave/error.h"
#include "kweave/train.h"
#include "loss/loss.h"
#include "train/regularizer_table.h"
#include "weights/methods/method_table.h"

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
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.C = 0; }), "`C` is 0, expected above 0");
  EXPECT_EQ(Refusal([&](TrainOptions& o) { o.C = nan; }), "`C` is nan, expected above 0");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.norm = 0.5; }), "`norm` is 0.5, expected 1 to inf");
  EXPECT_EQ(Refusal([&](TrainOptions& o) { o.norm = nan; }), "`norm` is nan, expected 1 to inf");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.gap = 0; }), "`gap` is 0, expected above 0, at most 1");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.epsilon = -1; }), "`epsilon` is -1, expected 0 or more");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.nu = 0; }), "`nu` is 0, expected above 0, at most 1");
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.nu = 1.5; }), "`nu` is 1.5, expected above 0, at most 1");
  EXPECT_THAT(Refusal([](TrainOptions& o) { o.method = "nonsense"; }),
              ::testing::HasSubstr("auto, analytic"));
  EXPECT_THAT(Refusal([](TrainOptions& o) { o.normalize = "fancy"; }), ::testing::HasSubstr("fancy"));
  EXPECT_EQ(Refusal([](TrainOptions& o) { o.max_iterations = -1; }),
            "`max_iterations` is -1, expected 0 or more");
  EXPECT_EQ(Refusal([](TrainOptions& o) {
              o.sample_weights = {1, -1};
            }),
            "`sample_weights` of sample 2 is -1, expected 0 or more");
  EXPECT_EQ(Refusal([](TrainOptions& o) {
              o.class_weights = {{"a", 0}};
            }),
            "`class_weights` of 'a' is 0, expected above 0");
}

TEST(Validate, NamesTheLossesOfTheTask) {
  const auto refusal = [](Task task, const std::string& loss, bool bias) {
    return Refusal([&](TrainOptions& o) {
      o.task = task;
      o.loss = loss;
      o.bias = bias;
    });
  };
  EXPECT_EQ(
      refusal(Task::kRegress, "hinge", true),
      "`loss` 'hinge' serves another task; available for `task` regress: auto, epsilon-insensitive, squared");
  EXPECT_THAT(refusal(Task::kClassify, "absolute", true),
              ::testing::HasSubstr("`loss` 'absolute' is not available; available: auto; classify: hinge"));
  EXPECT_THAT(refusal(Task::kOneClass, "one-class", false), ::testing::HasSubstr("available: auto"));
  EXPECT_EQ(refusal(Task::kOneClass, "auto", false), "accepted");
  EXPECT_EQ(refusal(Task::kRegress, "squared", false), "accepted");
  EXPECT_EQ(Refusal([](TrainOptions& o) {
              o.task = Task::kRegress;
              o.class_weights = {{"1", 2}};
            }),
            "`task` regress has no classes to weigh");
  EXPECT_EQ(Refusal([](TrainOptions& o) {
              o.multiclass = Multiclass::kJoint;
              o.solver = SolverKind::kSmo;
            }),
            "`multiclass` joint has a solver of its own: `solver` auto, not smo");
}

const OptionRecord<TrainOptions>& Record(std::string_view name) {
  const auto records = TrainOptionRecords();
  return *std::ranges::find(records, name, &OptionRecord<TrainOptions>::name);
}

TEST(Validate, SaysFieldValueAndRuleApart) {
  TrainOptions options;
  options.gap = 2;
  try {
    Validate(options);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.field(), "gap");
    EXPECT_EQ(error.value(), "2");
    EXPECT_EQ(error.rule(), "above 0, at most 1");
  }
}

TEST(OptionRecords, NameEveryLossMethodAndRegularizer) {
  for (const LossRecord& loss : LossTable())
    EXPECT_THAT(Record("loss").AllowedText(), ::testing::HasSubstr(std::string(loss.name)));
  for (const MethodRecord& method : MethodTable())
    EXPECT_THAT(Record("method").AllowedText(), ::testing::HasSubstr(std::string(method.name)));
  for (const RegularizerRecord& regularizer : RegularizerTable())
    EXPECT_THAT(Record("regularizer").AllowedText(), ::testing::HasSubstr(std::string(regularizer.name)));
}

TEST(OptionRecords, AreComplete) {
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords()) {
    EXPECT_FALSE(record.Meaning().empty() || record.AllowedText().empty() || record.DefaultText().empty())
        << record.name;
    const bool is_number = record.fallback.index() == 1 || record.fallback.index() == 2;
    EXPECT_TRUE(!is_number || std::isfinite(record.range.least)) << record.name << " has no range";
  }
}

TEST(OptionRecords, SpeakForPeople) {
  EXPECT_EQ(Record("block_norm").FlagText(), "--block-norm");
  EXPECT_EQ(Record("C").FlagText(), "-C");
  EXPECT_EQ(Record("kernels").FlagText(), "--kernel");
  EXPECT_EQ(Record("block_norm").AllowedText(), "1 to inf");
  EXPECT_EQ(Record("block_norm").DefaultText(), "none");
  EXPECT_EQ(Record("nu").AllowedText(), "above 0, at most 1");
  EXPECT_EQ(Record("nu").DefaultText(), "0.5");
  EXPECT_EQ(Record("driver").AllowedText(), "auto, wrapper, interleaved");
  EXPECT_EQ(Record("inner_norm").scope.ToText(), "regularizer mixed");
}

// Every option by a value that is not its default, through JSON and back.
TEST(OptionsJson, GoThereAndBack) {
  TrainOptions options;
  options.task = Task::kRegress;
  options.kernels = {"linear", "rbf(gamma=[0.1,1])"};
  options.norm = std::numeric_limits<double>::infinity();
  options.bias = false;
  options.max_iterations = 7;
  options.driver = DriverKind::kInterleaved;
  options.weight_bounds = {{"linear", {0.1, std::numeric_limits<double>::infinity()}}};
  options.class_C = {{"a,b", 3}};
  const TrainOptions again = OptionsFromJson(OptionsToJson(options));
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords())
    EXPECT_EQ(record.get(again), record.get(options)) << record.name;
}

TEST(OptionsJson, RefusesWhatItCannotRead) {
  const auto refusal = [](std::string_view json) -> std::string {
    try {
      OptionsFromJson(json);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      return error.field();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal(R"({"gap": "small"})"), "gap");
  EXPECT_EQ(refusal(R"({"driver": "chauffeur"})"), "driver");
  EXPECT_EQ(refusal(R"({"of a later version": 1})"), "accepted");
  EXPECT_EQ(refusal("[1"), "");
}

TEST(GivenOptions, TakesWhatWasGivenAndNotWhatRan) {
  Summary summary;
  summary.options = {{"C", "3.0"}, {"method", "\"level\""}, {"solver", "\"newton\""}, {"norm", "\"inf\""}};
  const TrainOptions old = GivenOptions(summary);
  EXPECT_EQ(old.C, 3);
  EXPECT_EQ(old.method, "auto");
  EXPECT_EQ(old.solver, SolverKind::kAuto);
  EXPECT_TRUE(std::isinf(old.norm));
  summary.options.emplace_back("given", R"({"method": "analytic", "solver": "smo"})");
  EXPECT_EQ(GivenOptions(summary).method, "analytic");
  EXPECT_EQ(GivenOptions(summary).solver, SolverKind::kSmo);
}

}  // namespace
}  // namespace kweave
