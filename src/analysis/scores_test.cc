#include "kweave/scores.h"

#include <gtest/gtest.h>

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

TEST(Scores, RefuseDifferentLengths) {
  EXPECT_THROW(ScoreClassification({true}, std::vector<double>{1, 2}), Error);
  EXPECT_THROW(ScoreClassification({}, {}), Error);
}

TEST(PositiveLabels, CompareNumbersAsNumbersAndTextAsText) {
  const Labels numbers{{"+1", "-1", "1.0"}, {1, -1, 1}};
  EXPECT_EQ(PositiveLabels(numbers, {"-1", "1"}, nullptr), (std::vector<bool>{true, false, true}));
  const Labels text{{"ill", "well"}, {}};
  EXPECT_EQ(PositiveLabels(text, {"ill", "well"}, nullptr), (std::vector<bool>{false, true}));
  std::string stranger;
  EXPECT_TRUE(PositiveLabels(text, {"a", "b"}, &stranger).empty());
  EXPECT_EQ(stranger, "ill");
}

TEST(PredictionSummary, HasScoresOnlyWhereThereAreLabels) {
  PredictionSummary summary;
  EXPECT_EQ(summary.ToJson().find("accuracy"), std::string::npos);
  summary.scores = ClassificationScores{};
  EXPECT_NE(summary.ToJson().find("\"accuracy\""), std::string::npos);
  EXPECT_EQ(summary.ToJson().find("auc"), std::string::npos);
}

}  // namespace
}  // namespace kweave
