/// Scores of predictions, by scikit-learn's definitions.
///
///     const kweave::Prediction prediction = model.Predict(data, context);
///     std::string unknown_label;
///     const std::vector<bool> truth = kweave::PositiveLabels(data.labels, model.classes(), &unknown_label);
///     std::cout << kweave::ScoreClassification(truth, prediction.decision).accuracy << '\n';
#ifndef KWEAVE_SCORES_H_
#define KWEAVE_SCORES_H_

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kweave/dataset.h"

namespace kweave {

/// How good the predictions of a two-class model are, by scikit-learn's definitions. A score that the labels
/// leave undefined (one class only) is absent.
struct ClassificationScores {
  double accuracy = 0;
  double balanced_accuracy = 0;  ///< mean recall of the classes that occur
  std::optional<double> auc;     ///< area under the ROC curve; ties count one half
  std::optional<double> average_precision;
  double mcc = 0;                  ///< Matthews' correlation; 0 where it is undefined
  double f1 = 0;                   ///< of the second class
  std::optional<double> log_loss;  ///< where there are probabilities
};

/// `is_positive[i]`: sample i belongs to the second class; decision[i] > 0: so it was predicted.
/// `probability`, of the second class, may be empty. Throws Error(kUsage) when there are no samples, the
/// lengths differ or a prediction is NaN.
ClassificationScores ScoreClassification(const std::vector<bool>& is_positive,
                                         std::span<const double> decision,
                                         std::span<const double> probability = {});

/// How well one of several classes is told from all others.
struct ClassScores {
  std::string name;
  Index samples = 0;  ///< that belong to it
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  double mcc = 0;
  std::optional<double> average_precision;  ///< by its value; absent when no sample belongs to it
};

/// How good the predictions of more than two classes, or of several labels per sample, are. Means are over
/// the classes that occur, predicted or not, each counting once. Every label that the model does not know is
/// one of them, with a recall, F1 and correlation of 0; but where samples may have several labels, such
/// labels are ignored.
struct MulticlassScores {
  double accuracy = 0;           ///< share of samples whose class, or whole set of labels, is right
  double balanced_accuracy = 0;  ///< mean recall; not of several labels
  double mcc = 0;                ///< Matthews' correlation of all classes at once; not of several labels
  double mean_mcc = 0;
  double f1 = 0;                            ///< mean over classes
  Index classes_occurring = 0;              ///< how many the means are over; if none, they are 0
  std::optional<double> average_precision;  ///< mean over the classes of the model that occur
  std::optional<double> log_loss;           ///< where there are probabilities, and the model knows all labels
  std::optional<double> hamming_loss;       ///< share of wrong labels; only of several labels per sample
  /// k, and the share of samples whose class is among the k with the largest values.
  std::vector<std::pair<std::size_t, double>> top;
  std::vector<ClassScores> classes;
  /// Samples of each class (row) by the class predicted (column); the classes of the model first, then labels
  /// that it does not know, and samples without any. Empty for several labels.
  std::vector<std::vector<Index>> confusion;
  std::vector<std::string> confusion_rows;  ///< the labels of its rows; that of samples without any is empty
};

/// The numbers of each sample's classes. Numbers are compared as numbers. Labels that are none of the classes
/// go to `unknown_labels`, each once, and are numbered after the classes.
std::vector<std::vector<Index>> TrueClasses(const Labels& labels, const std::vector<std::string>& classes,
                                            std::vector<std::string>* unknown_labels);

/// `truth` and `unknown_labels` as from TrueClasses. Where one class is predicted, a sample with several
/// counts for the one predicted if that is among them, and is right, else for the first. `decision`: row
/// after row, one per sample, with a value for each class; `probability` likewise, or empty. Throws
/// Error(kUsage) when there are no samples, the lengths differ, a value is NaN or a class has no name.
MulticlassScores ScoreClasses(const std::vector<std::vector<Index>>& truth, std::span<const double> decision,
                              const std::vector<std::string>& classes, bool is_multilabel,
                              const std::vector<std::string>& unknown_labels = {},
                              std::span<const double> probability = {});

/// How good the predictions of a regression are, by scikit-learn's definitions.
struct RegressionScores {
  double rmse = 0;
  double mae = 0;
  std::optional<double> r2;  ///< absent for fewer than two samples; of equal targets: 1 if met, else 0
  std::optional<double> correlation;  ///< Pearson's; absent where targets or predictions are all equal
};

/// Throws Error(kUsage) when there are no samples, the lengths differ or a prediction is NaN.
RegressionScores ScoreRegression(std::span<const double> targets, std::span<const double> predicted);

/// Which samples belong to the second class. Numbers are compared as numbers. Empty when a label is neither
/// class; `unknown_label` then receives it.
std::vector<bool> PositiveLabels(const Labels& labels, const std::vector<std::string>& classes,
                                 std::string* unknown_label);

/// Which samples are inliers by labels of two numbers, of which the larger says so. Empty for all other
/// labels.
std::vector<bool> InlierLabels(const Labels& labels);

/// What `kweave predict --summary` writes.
struct PredictionSummary {
  Index samples = 0;
  std::optional<ClassificationScores> scores;  ///< absent without labels, and for regression
  std::optional<RegressionScores> regression;  ///< absent for other tasks
  std::optional<MulticlassScores> classes;     ///< of more than two classes or several labels per sample
  std::string positive_class;                  ///< the class that f1 and average_precision are of
  std::optional<double> outlier_fraction;      ///< predicted; only of a one-class machine
  double seconds = 0;
  std::string ToJson() const;
};

}  // namespace kweave

#endif  // KWEAVE_SCORES_H_
