#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(ScoreClasses, CountsUnknownClassesAsMistakes) {
  std::vector<std::vector<Index>> truth = kTruth;
  truth[0] = {};
  const MulticlassScores scores = ScoreClasses(truth, kDecision, kClasses, false);
  EXPECT_NEAR(scores.accuracy, 0.5, 1e-12);
  ASSERT_EQ(scores.confusion.size(), 4u);
  EXPECT_THAT(scores.confusion[3], ElementsAre(1, 0, 0));
  EXPECT_NEAR(scores.balanced_accuracy, (0.0 + 1 + 0.5 + 0) / 4, 1e-12);
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

TEST(ScoreClasses, RefusesWhatDoesNotFit) {
  EXPECT_THROW(ScoreClasses({}, {}, kClasses, false), Error);
  EXPECT_THROW(ScoreClasses(kTruth, std::span(kDecision).first(3), kClasses, false), Error);
}

TEST(TrueClasses, ComparesNumbersAsNumbersAndNamesStrangers) {
  Labels labels;
  labels.text = {"1", "+2", "7", "2.0"};
  std::vector<std::string> strangers;
  EXPECT_THAT(TrueClasses(labels, {"1", "2"}, &strangers),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(), ElementsAre(1)));
  EXPECT_THAT(strangers, ElementsAre("7"));
  labels.separator = ";";
  labels.text = {"2; 1", "", "7;1"};
  EXPECT_THAT(TrueClasses(labels, {"1", "2"}, &strangers),
              ElementsAre(ElementsAre(1, 0), ElementsAre(), ElementsAre(0)));
}

}  // namespace
}  // namespace kweave
