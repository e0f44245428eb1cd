#include "kweave/summary.h"

#include <gtest/gtest.h>

#include <limits>

#include "kweave/error.h"
#include "model/summary_json.h"

namespace kweave {
namespace {

Summary Example() {
  Summary summary;
  summary.status = Status::kTimeLimit;
  summary.task = Task::kClassify;
  summary.primal = 2.5;
  summary.dual = 2.25;
  summary.gap = 0.25;
  summary.relative_gap = 0.1;
  summary.iterations = 3;
  summary.solves = 4;
  summary.bias = -0.125;
  summary.n_support = 17;
  summary.kernels = {{"linear", 0.5, 1.5}, {"rbf(gamma=1)", 0, -1}};
  summary.kernels_total = 2;
  summary.kernels_active = 1;
  summary.seconds = {6, 1, 2, 3, 4, 5};
  summary.kernel_rows = 12345;
  summary.peak_memory_bytes = std::int64_t{1} << 40;
  summary.threads = 2;
  summary.options = {{"norm", "\"inf\""}, {"C", "1.0"}, {"kernels", "[\"linear\"]"}};
  summary.certificate = KernelEvaluation::kTable;
  summary.history = {{0.5, 3, 2, 0.33, 1, false}, {1, 2.5, 2.25, 0.1, 2, true}};
  return summary;
}

TEST(Summary, SurvivesJson) {
  const Summary summary = Example();
  const Summary back = SummaryFromJson(Json::parse(summary.ToJson()));
  EXPECT_EQ(back.ToJson(), summary.ToJson());
  EXPECT_EQ(back.status, Status::kTimeLimit);
  EXPECT_EQ(back.options, summary.options);
  EXPECT_EQ(back.history.back().inside_solve, true);
  EXPECT_EQ(back.seconds.certificate, 5);
  EXPECT_FALSE(back.leave_one_out);
}

TEST(Summary, TellsTheGapOfItsHistoryAsItsOwn) {
  const Json row = Json::parse(Example().ToJson()).at("history").at(0);
  EXPECT_EQ(row.at("gap").get<double>(), 1);
  EXPECT_EQ(row.at("relative_gap").get<double>(), 0.33);
  Json older = ToJson(Example());
  older["history"][0].erase("relative_gap");
  older["history"][0]["gap"] = 0.25;
  EXPECT_EQ(SummaryFromJson(older).history[0].relative_gap, 0.25)
      << "older models have the relative gap only";
}

TEST(Summary, CountsMovesThatWereNotTheMethods) {
  Summary summary = Example();
  EXPECT_EQ(Json::parse(summary.ToJson()).at("fallbacks").get<int>(), 0);
  summary.history.front().fallbacks = 1;
  summary.history.back().fallbacks = 3;
  EXPECT_EQ(Json::parse(summary.ToJson()).at("fallbacks").get<int>(), 3);
  summary.machines.resize(1);
  summary.machines[0].history = summary.history;
  EXPECT_EQ(Json::parse(summary.ToJson()).at("fallbacks").get<int>(), 6);
}

TEST(Summary, KeepsTheLeaveOneOutScore) {
  Summary summary = Example();
  summary.leave_one_out = 0.75;
  EXPECT_EQ(SummaryFromJson(Json::parse(summary.ToJson())).leave_one_out, 0.75);
}

TEST(Summary, WritesWhatIsNotFiniteAsNull) {
  Summary summary = Example();
  summary.primal = std::numeric_limits<double>::infinity();
  const Summary back = SummaryFromJson(Json::parse(summary.ToJson()));
  EXPECT_TRUE(std::isnan(back.primal));
}

TEST(Summary, RefusesDamage) {
  Json json = ToJson(Example());
  json.erase("bias");
  EXPECT_THROW(SummaryFromJson(json), Error);
  json = ToJson(Example());
  json["status"] = "splendid";
  EXPECT_THROW(SummaryFromJson(json), Error);
  EXPECT_THROW(SummaryFromJson(Json::array()), Error);
}

}  // namespace
}  // namespace kweave
