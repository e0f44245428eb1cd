/// How good a model is on a test set, with confidence intervals.
///
///     const kweave::ScoreReport found = kweave::Evaluate(model, data, {}, kweave::Context());
///     std::cout << found.ToText();
///
/// Which interval a score has:
///   wilson     a share of independent samples: accuracy, recall, precision, top-k (Wilson 1927)
///   delong     the area under the ROC curve: DeLong, DeLong and Clarke-Pearson (1988), normal on the scale
///              of the logit; where no pair is in the wrong order, the exact bound from as many independent pairs as
///              the smaller class has samples
///   fisher     Pearson's correlation: normal on Fisher's scale
///   bootstrap  all others: percentiles over samples drawn with replacement (Efron 1979)
/// All are of the scores on new samples of this one model, not of the learning procedure.
#ifndef KWEAVE_EVALUATE_H_
#define KWEAVE_EVALUATE_H_

#include <optional>
#include <string>
#include <vector>

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/model.h"
#include "kweave/scores.h"

namespace kweave {

struct EvaluateOptions {
  double confidence = 0.95;  ///< of each interval, above 0 and below 1
  int replicates = 2000;     ///< of the bootstrap; 0: no such intervals
  PredictOptions predict;
};

/// A score and where it would lie on ever more samples of the same kind.
struct EvaluatedScore {
  std::string name;
  double value = 0;
  std::string method;  ///< of the interval; empty: there is none
  double lower = 0, upper = 0;
};

/// One class against all others.
struct EvaluatedClass {
  std::string name;
  Index samples = 0;                   ///< that belong to it
  std::vector<EvaluatedScore> scores;  ///< recall, precision, f1, auc, average_precision
};

struct ScoreReport {
  Index samples = 0;
  double confidence = 0.95;
  int replicates = 0;
  std::vector<EvaluatedScore> scores;
  /// What saying the same of every sample scores: the most frequent class here, or the mean.
  std::optional<EvaluatedScore> baseline;
  std::vector<EvaluatedClass> classes;
  std::string positive_class;  ///< of two classes the one that f1 and average_precision are of
  /// As in MulticlassScores; of two classes, too.
  std::vector<std::vector<Index>> confusion;
  std::vector<std::string> confusion_rows;
  PredictionSummary plain;  ///< the scores alone, as `predict` has them
  Prediction prediction;

  std::string ToText() const;
  std::string ToJson() const;
};

/// The scores of predictions; notes on labels that the model does not know go to the log.
PredictionSummary ScorePrediction(const Model& model, const Labels& labels, const Prediction& prediction,
                                  const Context& context);

/// Predicts and scores. Throws Error(kUsage) on wrong options, Error(kData) on data without labels, or whose
/// labels say nothing to the model.
ScoreReport Evaluate(const Model& model, const Dataset& data, const EvaluateOptions& options,
                     const Context& context);

}  // namespace kweave

#endif  // KWEAVE_EVALUATE_H_
