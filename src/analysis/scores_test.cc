#include "kweave/scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kweave/error.h"

namespace kweave {
namespace {

// The expected values come from scikit-learn 1.2.1 (accuracy_score and so on).
struct Case {
  std::vector<bool> is_positive;
  std::vector<double> decision;
  double accuracy, balanced_accuracy, auc, average_precision, mcc, f1;
};

const Case kCases[] = {
    // Ties between the classes, and values on both sides of 0.
    {{0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0},
     {-1.5, 0.3, 2.0, -0.2, -0.7, 0.3, 0.9, 1.1, 0.3, -2.0, -0.2, 0.3},
     0.5833333333333334,
     0.5833333333333333,
     0.7222222222222222,
     0.7460317460317459,
     0.1690308509457033,
     0.6153846153846153},
    // Nothing is called positive.
    {{1, 0, 0, 0, 0, 0, 0},
     {-0.5, -1, -2, -0.25, -3, -0.5, -4},
     0.8571428571428571,
     0.5,
     0.75,
     0.3333333333333333,
     0,
     0},
    {{1, 1, 1, 0}, {3, 2, 1, -1}, 1, 1, 1, 1, 1, 1},
};

TEST(Scores, AgreeWithScikitLearn) {
  for (const Case& known : kCases) {
    const ClassificationScores scores = ScoreClassification(known.is_positive, known.decision);
    EXPECT_NEAR(scores.accuracy, known.accuracy, 1e-14);
    EXPECT_NEAR(scores.balanced_accuracy, known.balanced_accuracy, 1e-14);
    EXPECT_NEAR(scores.auc.value(), known.auc, 1e-14);
    EXPECT_NEAR(scores.average_precision.value(), known.average_precision, 1e-14);
    EXPECT_NEAR(scores.mcc, known.mcc, 1e-14);
    EXPECT_NEAR(scores.f1, known.f1, 1e-14);
  }
}

TEST(Scores, LeaveOutWhatOneClassCannotTell) {
  const std::vector<double> decision = {1, -1};
  const ClassificationScores negatives = ScoreClassification({false, false}, decision);
  EXPECT_FALSE(negatives.auc);
  EXPECT_FALSE(negatives.average_precision);
  EXPECT_EQ(negatives.balanced_accuracy, 0.5);
  const ClassificationScores positives = ScoreClassification({true, true}, decision);
  EXPECT_FALSE(positives.auc);
  EXPECT_EQ(positives.average_precision, 1);
  EXPECT_EQ(positives.balanced_accuracy, 0.5);
}

TEST(Scores, LogLossAgreesWithScikitLearn) {
  const std::vector<double> decision = {-1, 0, 0, 1, -3, -3};
  const std::vector<double> probability = {0.1, 0.5, 0.5, 0.9, 0.0, 0.0};
  const auto scores = ScoreClassification({0, 0, 1, 1, 0, 1}, decision, probability);
  EXPECT_NEAR(scores.log_loss.value(), 6.27344479692545, 1e-13);
  EXPECT_FALSE(ScoreClassification({0, 1, 0, 1, 0, 1}, decision).log_loss);
  EXPECT_THROW(ScoreClassification({0, 1, 0, 1, 0, 1}, decision, std::vector<double>{0.5}), Error);
}

TEST(Scores, OfRegressionAgreeWithScikitLearn) {
  const auto close = ScoreRegression(std::vector<double>{3, -0.5, 2, 7, 2, 2},
                                     std::vector<double>{2.5, 0.0, 2, 8, 2.5, 1.0});
  EXPECT_NEAR(close.rmse, 0.67700320038633, 1e-14);
  EXPECT_NEAR(close.mae, 0.5833333333333334, 1e-14);
  EXPECT_NEAR(close.r2.value(), 0.9089655172413793, 1e-14);
  EXPECT_NEAR(close.correlation.value(), 0.9683583645297861, 1e-14);
  const auto opposite = ScoreRegression(std::vector<double>{1, 2, 3}, std::vector<double>{3, 1, -2});
  EXPECT_NEAR(opposite.rmse, 3.1622776601683795, 1e-14);
  EXPECT_NEAR(opposite.r2.value(), -14, 1e-12);
  EXPECT_NEAR(opposite.correlation.value(), -0.9933992677987828, 1e-14);
}

TEST(Scores, OfRegressionOnEqualTargets) {
  const std::vector<double> equal = {2, 2};
  EXPECT_EQ(ScoreRegression(equal, equal).r2, 1);
  const auto missed = ScoreRegression(equal, std::vector<double>{2, 3});
  EXPECT_EQ(missed.r2, 0);
  EXPECT_FALSE(missed.correlation);
  const auto single = ScoreRegression(std::vector<double>{2}, std::vector<double>{3});
  EXPECT_EQ(single.rmse, 1);
  EXPECT_FALSE(single.r2);
  EXPECT_THROW(ScoreRegression(equal, std::vector<double>{2}), Error);
}

TEST(InlierLabels, AreTwoNumbers) {
  EXPECT_EQ(InlierLabels({{"1", "-1", "1"}, {1, -1, 1}, {}}), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(InlierLabels({{"0", "5"}, {0, 5}, {}}), (std::vector<bool>{false, true}));
  EXPECT_TRUE(InlierLabels({{"1", "2", "3"}, {1, 2, 3}, {}}).empty());
  EXPECT_TRUE(InlierLabels({{"1", "1"}, {1, 1}, {}}).empty());
  EXPECT_TRUE(InlierLabels({{"in", "out"}, {}, {}}).empty());
}

TEST(Scores, RefuseDifferentLengths) {
  EXPECT_THROW(ScoreClassification({true}, std::vector<double>{1, 2}), Error);
  EXPECT_THROW(ScoreClassification({}, {}), Error);
}

// A NaN has no place in the order that curves walk down, so they would never end.
TEST(Scores, RefusePredictionsThatAreNotNumbers) {
  const double nan = std::nan("");
  EXPECT_THROW(ScoreClassification({true, false}, std::vector<double>{1, nan}), Error);
  EXPECT_THROW(ScoreClassification({true, false}, std::vector<double>{1, 2}, std::vector<double>{nan, 0.5}),
               Error);
  EXPECT_THROW(ScoreRegression(std::vector<double>{1}, std::vector<double>{nan}), Error);
  EXPECT_THROW(ScoreClasses({{0}, {1}}, std::vector<double>{1, 0, nan, 1}, {"a", "b"}, false), Error);
}

TEST(Scores, TakeInfinitePredictions) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto scores = ScoreClassification({1, 0, 0}, std::vector<double>{infinity, 1, -infinity});
  EXPECT_EQ(scores.auc, 1);
}

TEST(PositiveLabels, CompareNumbersAsNumbersAndTextAsText) {
  const Labels numbers{{"+1", "-1", "1.0"}, {1, -1, 1}, {}};
  EXPECT_EQ(PositiveLabels(numbers, {"-1", "1"}, nullptr), (std::vector<bool>{true, false, true}));
  const Labels text{{"ill", "well"}, {}, {}};
  EXPECT_EQ(PositiveLabels(text, {"ill", "well"}, nullptr), (std::vector<bool>{false, true}));
  std::string unknown_label;
  EXPECT_TRUE(PositiveLabels(text, {"a", "b"}, &unknown_label).empty());
  EXPECT_EQ(unknown_label, "ill");
}

TEST(PredictionSummary, HasScoresOnlyWhereThereAreLabels) {
  PredictionSummary summary;
  EXPECT_EQ(summary.ToJson().find("accuracy"), std::string::npos);
  summary.scores = ClassificationScores{};
  EXPECT_NE(summary.ToJson().find("\"accuracy\""), std::string::npos);
  EXPECT_EQ(summary.ToJson().find("auc"), std::string::npos);
}

TEST(PredictionSummary, WritesARowOfTheConfusionOnOneLine) {
  PredictionSummary summary;
  summary.classes = ScoreClasses({{0}, {1}}, std::vector<double>{1, 0, 0, 1}, {"a \"1\"", "b"}, false);
  const std::string text = summary.ToJson();
  EXPECT_NE(text.find("\n  \"confusion\": [\n    [1,0],\n    [0,1]\n  ],\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  \"confusion_rows\": [\n    \"a \\\"1\\\"\",\n    \"b\"\n  ],\n"),
            std::string::npos);
  EXPECT_EQ(text.substr(0, 17), "{\n  \"samples\": 0,");
}

}  // namespace
}  // namespace kweave
