#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kweave/error.h"
#include "kweave/scores.h"

namespace kweave {
namespace {

using ::testing::ElementsAre;

// Six samples of three classes; the last is taken for class 0. Expected values by scikit-learn's metrics.
const std::vector<std::vector<Index>> kTruth = {{0}, {0}, {1}, {1}, {2}, {2}};
const std::vector<double> kDecision = {0.9, 0.1,  0.0, 0.3, 0.4, 0.2, 0.1, 0.8, 0.3,
                                       0.2, 0.45, 0.4, 0.0, 0.1, 0.7, 0.6, 0.2, 0.5};
const std::vector<std::string> kClasses = {"a", "b", "c"};

TEST(ScoreClasses, MatchesScikitLearn) {
  const MulticlassScores scores = ScoreClasses(kTruth, kDecision, kClasses, false);
  EXPECT_NEAR(scores.accuracy, 4.0 / 6, 1e-12);
  EXPECT_NEAR(scores.balanced_accuracy, 4.0 / 6, 1e-12);
  EXPECT_NEAR(scores.mcc, 0.5222329678670935, 1e-12);
  EXPECT_NEAR(scores.f1, 0.6555555555555555, 1e-12);
  ASSERT_EQ(scores.classes.size(), 3u);
  EXPECT_NEAR(scores.classes[1].f1, 0.8, 1e-12);
  EXPECT_NEAR(scores.classes[1].mcc, 0.7071067811865475, 1e-12);
  EXPECT_NEAR(scores.classes[2].recall, 0.5, 1e-12);
  EXPECT_NEAR(*scores.classes[0].average_precision, 0.8333333333333333, 1e-12);
  EXPECT_EQ(scores.classes[0].samples, 2);
  EXPECT_THAT(scores.confusion,
              ElementsAre(ElementsAre(1, 1, 0), ElementsAre(0, 2, 0), ElementsAre(1, 0, 1)));
  ASSERT_EQ(scores.top.size(), 1u);
  EXPECT_NEAR(scores.top[0].second, 1, 1e-12);
}

// Every member that scikit-learn gave is in the summary, with the same value.
void ExpectMembers(const nlohmann::json& summary, const nlohmann::json& expected) {
  for (const auto& [name, value] : expected.items()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(summary.contains(name));
    if (value.is_object()) {
      ExpectMembers(summary[name], value);
    } else if (value.is_number_float()) {
      EXPECT_NEAR(summary[name].get<double>(), value.get<double>(), 1e-12);
    } else {
      EXPECT_EQ(summary[name], value);
    }
  }
}

TEST(ScoreClasses, AgreesWithScikitLearnOnUnknownLabelsAndAbsentClasses) {
  std::ifstream file("tests/reference/class_scores.json");
  const nlohmann::json stored = nlohmann::json::parse(file);
  const std::vector<std::string> classes = stored.at("classes");
  for (const nlohmann::json& problem : stored.at("problems")) {
    SCOPED_TRACE(problem.at("name"));
    const Labels labels{problem.at("labels"), {}, problem.at("separator")};
    const std::vector<double> decision = problem.at("decision");
    const auto probability = problem.value("probability", std::vector<double>{});
    std::vector<std::string> unknown_labels;
    const auto truth = TrueClasses(labels, classes, &unknown_labels);
    PredictionSummary summary;
    summary.classes =
        ScoreClasses(truth, decision, classes, !labels.separator.empty(), unknown_labels, probability);
    const auto written = nlohmann::json::parse(summary.ToJson());
    ExpectMembers(written, problem.at("scores"));
    for (const char* name :
         {"balanced_accuracy", "mcc", "confusion", "confusion_rows", "log_loss", "hamming_loss"}) {
      EXPECT_EQ(written.contains(name), problem.at("scores").contains(name)) << name;
    }
  }
}

TEST(ScoreClasses, GivesUnknownLabelsRowsOfTheirOwn) {
  std::vector<std::vector<Index>> truth = kTruth;
  truth[0] = {4};
  truth[1] = {};
  const MulticlassScores scores = ScoreClasses(truth, kDecision, kClasses, false, {"x", "y"});
  EXPECT_THAT(scores.confusion_rows, ElementsAre("a", "b", "c", "x", "y", ""));
  EXPECT_THAT(scores.confusion,
              ElementsAre(ElementsAre(0, 0, 0), ElementsAre(0, 2, 0), ElementsAre(1, 0, 1),
                          ElementsAre(0, 0, 0), ElementsAre(1, 0, 0), ElementsAre(0, 1, 0)));
  EXPECT_EQ(scores.classes_occurring, 4);  // b, c, y and none
  EXPECT_NEAR(scores.accuracy, 0.5, 1e-12);
  EXPECT_NEAR(scores.balanced_accuracy, (1 + 0.5 + 0 + 0) / 4, 1e-12);
  EXPECT_NEAR(scores.top[0].second, 4.0 / 6, 1e-12);
}

TEST(ScoreClasses, HasNoLogLossWhereALabelIsUnknown) {
  const std::vector<double> probability(kDecision.size(), 1.0 / 3);
  EXPECT_NEAR(*ScoreClasses(kTruth, kDecision, kClasses, false, {}, probability).log_loss, std::log(3),
              1e-12);
  std::vector<std::vector<Index>> truth = kTruth;
  truth[5] = {3};
  EXPECT_FALSE(ScoreClasses(truth, kDecision, kClasses, false, {"x"}, probability).log_loss);
  EXPECT_FALSE(ScoreClasses(kTruth, kDecision, kClasses, true, {}, probability).log_loss);
}

TEST(ScoreClasses, LeavesMeansAtZeroWhereNoLabelOccurs) {
  const MulticlassScores scores =
      ScoreClasses({{}, {2}}, std::vector<double>{1, -1, -1, -1}, {"a", "b"}, true, {"x"});
  EXPECT_EQ(scores.classes_occurring, 0);
  EXPECT_EQ(scores.f1, 0);
  EXPECT_FALSE(scores.average_precision);
  EXPECT_NEAR(*scores.hamming_loss, 0.25, 1e-12);
}

TEST(ScoreClasses, ScoresSeveralLabels) {
  const std::vector<std::vector<Index>> truth = {{0, 1}, {}, {1}, {0}};
  const std::vector<double> decision = {1, 2, -1, -1, 1, 1, 1, -1};
  const MulticlassScores scores = ScoreClasses(truth, decision, {"a", "b"}, true);
  EXPECT_NEAR(scores.accuracy, 0.75, 1e-12);
  EXPECT_NEAR(*scores.hamming_loss, 0.125, 1e-12);
  EXPECT_NEAR(scores.f1, 0.9, 1e-12);
  EXPECT_NEAR(*scores.average_precision, (2.0 / 3 + 1) / 2, 1e-12);
  EXPECT_TRUE(scores.confusion.empty());
}

// Predicted: a, b, b, b, c, a.
TEST(ScoreClasses, CountsASampleWithSeveralLabelsForTheClassPredicted) {
  const std::vector<std::vector<Index>> truth = {{1, 0}, {2, 0}, {1}, {1, 3}, {3, 1, 0}, {2}};
  const std::vector<double> even(kDecision.size(), 1.0 / 3);
  const MulticlassScores scores = ScoreClasses(truth, kDecision, kClasses, false, {"x"}, even);
  EXPECT_THAT(scores.confusion, ElementsAre(ElementsAre(1, 0, 0), ElementsAre(0, 2, 0), ElementsAre(1, 1, 0),
                                            ElementsAre(0, 0, 1)));
  EXPECT_NEAR(scores.accuracy, 3.0 / 6, 1e-12);
  EXPECT_EQ(scores.classes[0].samples, 1);
  EXPECT_NEAR(scores.balanced_accuracy, (1 + 1 + 0 + 0) / 4.0, 1e-12);
  EXPECT_NEAR(scores.classes[1].precision, 2.0 / 3, 1e-12);
  EXPECT_NEAR(scores.top[0].second, 1, 1e-12);
  EXPECT_NEAR(*scores.classes[0].average_precision, (1.0 + 2.0 / 3 + 3.0 / 6) / 3, 1e-12);
  EXPECT_FALSE(scores.log_loss);
}

TEST(ScoreClasses, RefusesWhatDoesNotFit) {
  EXPECT_THROW(ScoreClasses({}, {}, kClasses, false), Error);
  EXPECT_THROW(ScoreClasses(kTruth, std::span(kDecision).first(3), kClasses, false), Error);
  EXPECT_THROW(ScoreClasses(kTruth, kDecision, kClasses, false, {}, std::span(kDecision).first(3)), Error);
  std::vector<std::vector<Index>> truth = kTruth;
  truth[0] = {3};
  EXPECT_THROW(ScoreClasses(truth, kDecision, kClasses, false), Error);
}

TEST(TrueClasses, ComparesNumbersAsNumbersAndNamesUnknownLabels) {
  Labels labels;
  labels.text = {"1", "+2", "10", "2.0", "oak", "7", "7.0"};
  std::vector<std::string> unknown_labels;
  EXPECT_THAT(TrueClasses(labels, {"1", "2"}, &unknown_labels),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(3), ElementsAre(1), ElementsAre(4),
                          ElementsAre(2), ElementsAre(2)));
  EXPECT_THAT(unknown_labels, ElementsAre("7", "10", "oak"));
  labels.separator = ";";
  labels.text = {"2; 1", "", "7;1"};
  EXPECT_THAT(TrueClasses(labels, {"1", "2"}, &unknown_labels),
              ElementsAre(ElementsAre(1, 0), ElementsAre(), ElementsAre(2, 0)));
}

}  // namespace
}  // namespace kweave
