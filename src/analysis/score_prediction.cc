// Scores of what a model predicted, and notes on labels that it does not know.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "kweave/evaluate.h"

namespace kweave {
namespace {

void Note(const Context& context, std::string_view line) {
  if (context.log) context.log(LogLevel::kNote, line);
}

// Which samples belong to the second class, or are inliers; empty where the labels do not say.
std::vector<bool> SecondClass(const Model& model, const Labels& labels, const Context& context) {
  if (model.task() != Task::kOneClass) return PositiveLabels(labels, model.classes(), nullptr);
  std::vector<bool> is_inlier = InlierLabels(labels);
  if (is_inlier.empty()) {
    Note(context, "no scores: the labels are not two numbers, the larger of them for inliers");
  }
  return is_inlier;
}

// In quotes; the first three of more.
std::string NameSome(const std::vector<std::string>& names) {
  const std::span<const std::string> named = std::span(names).first(std::min<std::size_t>(names.size(), 3));
  return fmt::format("'{}'{}", fmt::join(named, "', '"), names.size() > named.size() ? ", ..." : "");
}

// Says what labels the model does not know.
void NoteUnknownLabels(const std::vector<std::string>& unknown_labels, bool is_multilabel,
                       const Context& context) {
  if (unknown_labels.empty()) return;
  const bool is_one = unknown_labels.size() == 1;
  Note(context,
       fmt::format("{} label{} the model was not trained on ({}): {}", unknown_labels.size(),
                   is_one ? "" : "s", NameSome(unknown_labels),
                   is_multilabel ? "left out of the scores"
                                 : fmt::format("samples with {} count as mistakes", is_one ? "it" : "them")));
}

// Says what classes of the model have no sample.
void NoteAbsentClasses(const std::vector<std::string>& classes, const std::vector<std::vector<Index>>& truth,
                       const Context& context) {
  std::vector<bool> occurs(classes.size(), false);
  for (const std::vector<Index>& own : truth) {
    for (const Index u : own) {
      if (static_cast<std::size_t>(u) < occurs.size()) occurs[static_cast<std::size_t>(u)] = true;
    }
  }
  std::vector<std::string> absent;
  for (std::size_t u = 0; u < classes.size(); ++u) {
    if (!occurs[u]) absent.push_back(classes[u]);
  }
  if (absent.empty()) return;
  Note(context,
       fmt::format("{} of the model's {} classes ha{} no sample here ({}): left out of the means",
                   absent.size(), classes.size(), absent.size() == 1 ? "s" : "ve", NameSome(absent)));
}

// Says how samples with several labels count where the model predicts one.
void NoteSeveralLabels(const std::vector<std::vector<Index>>& truth, const Context& context) {
  const auto several =
      std::ranges::count_if(truth, [](const std::vector<Index>& own) { return own.size() > 1; });
  if (several == 0) return;
  Note(context,
       fmt::format("{} sample{} several labels and the model predicts one: right where that is among "
                   "them, else a mistake of the first",
                   several, several == 1 ? " has" : "s have"));
}

// Nothing where the model knows none of the labels.
std::optional<MulticlassScores> ScoreSeveralClasses(const Model& model, const Labels& labels,
                                                    std::span<const double> decision,
                                                    std::span<const double> probability,
                                                    const Context& context) {
  const std::vector<std::string> classes = model.classes();
  std::vector<std::string> unknown_labels;
  const std::vector<std::vector<Index>> truth = TrueClasses(labels, classes, &unknown_labels);
  const bool knows_none = std::ranges::none_of(truth, [&](const std::vector<Index>& own) {
    return std::ranges::any_of(own, [&](Index u) { return u < static_cast<Index>(classes.size()); });
  });
  if (knows_none && !unknown_labels.empty()) {
    Note(context,
         fmt::format("no scores: no label is a class of the model; {} {} none of {}",
                     NameSome(unknown_labels), unknown_labels.size() == 1 ? "is" : "are", NameSome(classes)));
    return std::nullopt;
  }
  NoteUnknownLabels(unknown_labels, model.is_multilabel(), context);
  if (!model.is_multilabel()) NoteSeveralLabels(truth, context);
  NoteAbsentClasses(classes, truth, context);
  return ScoreClasses(truth, decision, classes, model.is_multilabel(), unknown_labels, probability);
}

}  // namespace

PredictionSummary ScorePrediction(const Model& model, const Labels& labels, const Prediction& prediction,
                                  const Context& context) {
  PredictionSummary summary;
  const std::vector<double>& decision = prediction.decision;
  summary.samples = static_cast<Index>(decision.size()) / model.outputs();
  if (model.task() == Task::kOneClass && !decision.empty()) {
    const auto outliers = std::ranges::count_if(decision, [](double f) { return f < 0; });
    summary.outlier_fraction = static_cast<double>(outliers) / static_cast<double>(decision.size());
  }
  if (labels.empty()) return summary;
  if (model.task() == Task::kRegress) {
    if (labels.is_numeric()) {
      summary.regression = ScoreRegression(labels.number, decision);
    } else {
      Note(context, "no scores: the labels are not numbers");
    }
    return summary;
  }
  if (model.outputs() > 1 || model.is_multilabel()) {
    summary.classes = ScoreSeveralClasses(model, labels, decision, prediction.probability, context);
    return summary;
  }
  const std::vector<bool> is_positive = SecondClass(model, labels, context);
  if (is_positive.empty() && model.task() == Task::kClassify) {  // more classes than the model knows
    std::vector<double> values;
    for (const double f : decision) values.insert(values.end(), {-f, f});
    summary.classes = ScoreSeveralClasses(model, labels, values, {}, context);
  }
  if (!is_positive.empty()) {
    std::vector<double> values = decision;
    // A sample on the threshold is an inlier, where 0 would be none.
    if (model.task() == Task::kOneClass)
      std::ranges::replace(values, 0.0, std::numeric_limits<double>::denorm_min());
    summary.scores = ScoreClassification(is_positive, values, prediction.probability);
    summary.positive_class = model.classes()[1];
  }
  return summary;
}

}  // namespace kweave
