#include "select/select_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "kweave/error.h"

namespace kweave {
namespace {

std::vector<OptionChoice> SplitChoices() {
  return {{"auto", "stratified for classes without groups, else plain"},
          {"stratified", "folds with the same shares of the classes"},
          {"plain", "folds of samples in random order, or of whole groups"},
          {"leave-one-out", "every sample, or every group, is a fold"},
          {"subsample",
           "`folds` random splits, of which `test_share` is scored; of classes the same share each"}};
}

std::vector<OptionChoice> ScoreChoices() {
  return {{"auto", "accuracy, r2 for a regression, auc for one class"},
          {"accuracy", "share of right predictions"},
          {"balanced_accuracy", "mean recall of the classes"},
          {"auc", "area under the ROC curve", "two classes, or one"},
          {"average_precision", "area under the curve of precision and recall"},
          {"mcc", "Matthews' correlation"},
          {"f1", "harmonic mean of precision and recall"},
          {"log_loss", "mean logarithm of the probability of the right class, negative", "loss logistic"},
          {"hamming_loss", "share of wrong labels", "several labels"},
          {"r2", "share of the variance explained", "regression"},
          {"rmse", "root mean square error", "regression"},
          {"mae", "mean absolute error", "regression"},
          {"correlation", "Pearson's correlation", "regression"}};
}

std::vector<OptionChoice> RuleChoices() {
  return {{"best", "the best mean score; of equal ones the first"},
          {"one-standard-error",
           "of all points within one standard error of the best the one with the fewest kernels, then the "
           "smallest C"}};
}

std::vector<OptionChoice> BaselineChoices() {
  return {{"none", "no baseline"},
          {"constant", "the most frequent class, or the mean, of the training folds"},
          {"uniform", "the uniform sum of all kernels, at the best of the other options"},
          {"single", "the best kernel by itself: all at the C chosen, the best of them at every C"}};
}

std::vector<std::string> Pieces(const std::string& list) {
  std::vector<std::string> pieces;
  std::istringstream stream(list);
  for (std::string piece; std::getline(stream, piece, ',');) pieces.push_back(piece);
  return pieces;
}

}  // namespace

std::span<const OptionRecord<SelectOptions>> SelectOptionRecords() {
  using O = SelectOptions;
  using Record = OptionRecord<O>;
  static const std::vector<Record> records = {
      Record("split", &O::split, "how samples are split into training and test folds").OneOf(SplitChoices),
      Record("folds", &O::folds, "number of folds; of a subsample: of splits").Within({.least = 2}),
      Record("repeats", &O::repeats, "times that the folds are drawn").Within({.least = 1}),
      Record("test_share", &O::test_share, "share of the samples that a random split scores")
          .Within({.least = 0, .most = 0.9, .is_above = true}),
      Record("score", &O::score, "what the points are compared by").OneOf(ScoreChoices),
      Record("rule", &O::rule, "which point is chosen").OneOf(RuleChoices),
      Record("nested", &O::nested,
             "outer folds that no choice sees, each with a selection of its own: the score of the whole "
             "procedure")
          .Within({.least = 0})
          .Unset("0: none"),
      Record("permutations", &O::permutations,
             "permutations of the labels, each with a selection of its own: a p-value of the whole procedure")
          .Within({.least = 0})
          .Unset("0: none"),
      Record("baselines", &O::baselines, "what is scored beside the grid").ListOf(BaselineChoices),
      Record("fold", &O::fold, "compute the points of this fold alone, counted from 1, as a job of an array")
          .Within({.least = 0})
          .Unset("0: all, and choose")};
  return records;
}

void Validate(const SelectOptions& options) {
  for (const OptionRecord<SelectOptions>& record : SelectOptionRecords()) record.Check(options);
  if (options.nested == 1) throw Error(ErrorKind::kUsage, {"nested", "1", "0 or at least 2"});
  const std::vector<OptionChoice> choices = BaselineChoices();
  for (const std::string& piece : Pieces(options.baselines)) {
    if (std::ranges::find(choices, piece, &OptionChoice::name) == choices.end())
      throw Error(ErrorKind::kUsage, {"baselines", "'" + piece + "'", "none, constant, uniform, single"});
  }
}

bool HasBaseline(const SelectOptions& options, const std::string& name) {
  const std::vector<std::string> pieces = Pieces(options.baselines);
  return std::ranges::find(pieces, name) != pieces.end();
}

std::vector<std::pair<std::string, double>> ScoreValues(const PredictionSummary& summary) {
  std::vector<std::pair<std::string, double>> values;
  const auto add = [&values](const char* name, std::optional<double> value) {
    if (value) values.emplace_back(name, *value);
  };
  if (const auto& scores = summary.scores) {
    add("accuracy", scores->accuracy), add("balanced_accuracy", scores->balanced_accuracy);
    add("auc", scores->auc), add("average_precision", scores->average_precision);
    add("mcc", scores->mcc), add("f1", scores->f1), add("log_loss", scores->log_loss);
  }
  if (const auto& scores = summary.classes) {
    add("accuracy", scores->accuracy), add("average_precision", scores->average_precision);
    if (!scores->hamming_loss) add("balanced_accuracy", scores->balanced_accuracy), add("mcc", scores->mcc);
    add("f1", scores->f1), add("log_loss", scores->log_loss), add("hamming_loss", scores->hamming_loss);
  }
  if (const auto& scores = summary.regression) {
    add("rmse", scores->rmse), add("mae", scores->mae), add("r2", scores->r2);
    add("correlation", scores->correlation);
  }
  return values;
}

std::string EffectiveScore(const SelectOptions& options, Task task) {
  if (options.score != "auto") return options.score;
  if (task == Task::kRegress) return "r2";
  return task == Task::kOneClass ? "auc" : "accuracy";
}

bool IsLoss(const std::string& score) {
  return score == "rmse" || score == "mae" || score == "log_loss" || score == "hamming_loss";
}

}  // namespace kweave
