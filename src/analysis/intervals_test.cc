#include "analysis/intervals.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/random.h"

namespace kweave {
namespace {

// By tests/reference/generate_intervals.py.
nlohmann::json Reference(const char* name) {
  std::ifstream file("tests/reference/intervals.json");
  return nlohmann::json::parse(file).at(name);
}

void ExpectMeets(const ConfidenceInterval& found, const nlohmann::json& expected) {
  EXPECT_NEAR(found.lower, expected.at(0).get<double>(), 1e-9);
  EXPECT_NEAR(found.upper, expected.at(1).get<double>(), 1e-9);
}

TEST(NormalQuantile, MeetsTheErrorFunction) {
  EXPECT_NEAR(NormalQuantile(0.95), 1.959963984540054, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.5), 0.674489750196082, 1e-12);
}

TEST(WilsonInterval, MeetsTheRootsOfTheScoreTest) {
  for (const auto& one : Reference("wilson")) {
    ExpectMeets(WilsonInterval(one.at("hits"), one.at("count"), one.at("confidence")), one.at("interval"));
  }
}

TEST(FisherInterval, MeetsTheNormalDistribution) {
  for (const auto& one : Reference("fisher")) {
    ExpectMeets(*FisherInterval(one.at("r"), one.at("count"), one.at("confidence")), one.at("interval"));
  }
  EXPECT_FALSE(FisherInterval(0.5, 3, 0.95));
  EXPECT_FALSE(FisherInterval(1, 30, 0.95));
}

TEST(DelongInterval, MeetsItsDefinitionOverAllPairs) {
  for (const auto& one : Reference("delong")) {
    std::vector<bool> is_positive;
    for (const int label : one.at("labels")) is_positive.push_back(label == 1);
    const auto values = one.at("values").get<std::vector<double>>();
    const auto found = DelongInterval(is_positive, values, one.at("confidence"));
    ASSERT_TRUE(found);
    ExpectMeets(*found, one.at("interval"));
  }
  EXPECT_FALSE(DelongInterval({true, true}, std::vector<double>{1, 2}, 0.95));
}

double Mean(std::span<const double> values, std::span<const Index> indices) {
  double sum = 0;
  for (const Index i : indices) sum += values[i];
  return sum / static_cast<double>(indices.size());
}

TEST(BootstrapIntervals, HoldTheMeanAboutAsOftenAsTheySay) {
  ThreadPool pool(2);
  constexpr int kRuns = 300, kSamples = 60;
  int held = 0;
  Random random(3);
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> values(kSamples);
    for (double& value : values) value = random.Uniform();
    const auto found =
        BootstrapIntervals(kSamples, 400, 0.9, static_cast<std::uint64_t>(run), pool,
                           [&](auto indices) { return std::vector<double>{Mean(values, indices)}; });
    held += found[0]->lower <= 0.5 && 0.5 <= found[0]->upper;
  }
  // 90 % of 300 are 270, with a standard deviation of 5; percentiles of 60 samples are a little too narrow.
  EXPECT_GT(held, 250);
  EXPECT_LT(held, 288);
}

TEST(BootstrapIntervals, AreTheSameForEveryNumberOfThreadsAndLeaveOutWhatIsUndefined) {
  const auto score = [](std::span<const Index> indices) {
    return std::vector<double>{static_cast<double>(indices[0]), std::nan(""),
                               indices[0] % 4 == 0 ? std::nan("") : 1.0};
  };
  ThreadPool one(1), three(3);
  const auto a = BootstrapIntervals(50, 200, 0.95, 7, one, score);
  const auto b = BootstrapIntervals(50, 200, 0.95, 7, three, score);
  EXPECT_EQ(a[0]->lower, b[0]->lower);
  EXPECT_EQ(a[0]->upper, b[0]->upper);
  EXPECT_FALSE(a[1]);
  EXPECT_TRUE(a[2]);
  EXPECT_TRUE(BootstrapIntervals(50, 0, 0.95, 7, one, score).empty());
}

}  // namespace
}  // namespace kweave
