#include "kweave/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "analysis/intervals.h"
#include "base/run_control.h"
#include "base/threads.h"
#include "kweave/error.h"
#include "model/json.h"

namespace kweave {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();    // what has no value
constexpr double kLeastAbove = std::numeric_limits<double>::denorm_min();  // positive, and no tie is broken

// What was predicted and what is true, as the functions of kweave/scores.h take it.
struct ScoredSamples {
  Index size = 0;
  std::vector<double> targets;            // regression
  std::vector<bool> is_positive;          // two classes, or inliers
  std::vector<std::vector<Index>> truth;  // more classes, or several labels
  std::vector<std::string> classes, unknown_labels;
  bool is_multilabel = false;
  std::vector<double> decision, probability;  // rows of `width`
  Index width = 1;

  bool is_binary() const { return !is_positive.empty(); }
  bool is_regression() const { return !targets.empty(); }
};

ScoredSamples MakeSamples(const Model& model, const Labels& labels, const Prediction& prediction,
                          const PredictionSummary& plain) {
  ScoredSamples samples;
  samples.size = plain.samples;
  samples.decision = prediction.decision;
  samples.probability = prediction.probability;
  if (plain.regression) samples.targets = labels.number;
  if (plain.scores) {
    const bool is_one_class = model.task() == Task::kOneClass;
    samples.is_positive =
        is_one_class ? InlierLabels(labels) : PositiveLabels(labels, model.classes(), nullptr);
    // A sample on the threshold is an inlier, where 0 would be none.
    if (is_one_class) std::ranges::replace(samples.decision, 0.0, kLeastAbove);
    samples.classes = model.classes();
  }
  if (plain.classes) {
    samples.classes = model.classes();
    samples.is_multilabel = model.is_multilabel();
    samples.truth = TrueClasses(labels, samples.classes, &samples.unknown_labels);
    samples.width = static_cast<Index>(samples.classes.size());
    if (model.outputs() == 1 && !samples.is_multilabel) {  // two classes, and labels that are neither
      samples.decision.clear(), samples.probability.clear();
      for (const double f : prediction.decision) samples.decision.insert(samples.decision.end(), {-f, f});
    }
  }
  return samples;
}

template <class T>
std::vector<T> Drawn(const std::vector<T>& rows, Index width, std::span<const Index> indices) {
  std::vector<T> drawn;
  if (rows.empty()) return drawn;
  drawn.reserve(indices.size() * static_cast<std::size_t>(width));
  for (const Index i : indices)
    drawn.insert(drawn.end(), rows.begin() + i * width, rows.begin() + (i + 1) * width);
  return drawn;
}

// Mean square of the error of the probability of the second class.
double Brier(const std::vector<bool>& is_positive, const std::vector<double>& probability) {
  if (probability.empty()) return kUndefined;
  double sum = 0;
  for (std::size_t i = 0; i < probability.size(); ++i) {
    const double error = probability[i] - (is_positive[i] ? 1 : 0);
    sum += error * error;
  }
  return sum / static_cast<double>(probability.size());
}

// One number of the whole, or of one class.
struct Key {
  std::string name;
  Index of_class = -1;
};

// All scores of some samples, in the order of their keys; `keys` may be null.
std::vector<double> AllScores(const ScoredSamples& samples, std::span<const Index> indices,
                              std::vector<Key>* keys) {
  std::vector<double> values;
  const auto add = [&](const char* name, std::optional<double> value, Index of_class = -1) {
    values.push_back(value.value_or(kUndefined));
    if (keys != nullptr) keys->push_back({name, of_class});
  };
  const std::vector<double> decision = Drawn(samples.decision, samples.width, indices);
  const std::vector<double> probability = Drawn(samples.probability, samples.width, indices);
  if (samples.is_regression()) {
    const RegressionScores found = ScoreRegression(Drawn(samples.targets, 1, indices), decision);
    add("rmse", found.rmse), add("mae", found.mae), add("r2", found.r2),
        add("correlation", found.correlation);
    return values;
  }
  if (samples.is_binary()) {
    std::vector<bool> is_positive = Drawn(samples.is_positive, 1, indices);
    const ClassificationScores found = ScoreClassification(is_positive, decision, probability);
    add("accuracy", found.accuracy), add("balanced_accuracy", found.balanced_accuracy), add("auc", found.auc);
    add("average_precision", found.average_precision), add("mcc", found.mcc), add("f1", found.f1);
    add("log_loss", found.log_loss), add("brier", Brier(is_positive, probability));
    add("f1", found.f1, 1), add("average_precision", found.average_precision, 1);
    std::vector<double> opposite = decision;
    for (double& f : opposite) f = f == 0 ? kLeastAbove : -f;
    is_positive.flip();
    const ClassificationScores first = ScoreClassification(is_positive, opposite);
    add("f1", first.f1, 0), add("average_precision", first.average_precision, 0);
    return values;
  }
  const MulticlassScores found = ScoreClasses(Drawn(samples.truth, 1, indices), decision, samples.classes,
                                              samples.is_multilabel, samples.unknown_labels, probability);
  add("accuracy", found.accuracy);
  if (!samples.is_multilabel) add("balanced_accuracy", found.balanced_accuracy), add("mcc", found.mcc);
  add("mean_mcc", found.mean_mcc), add("f1", found.f1), add("average_precision", found.average_precision);
  add("log_loss", found.log_loss), add("hamming_loss", found.hamming_loss);
  for (std::size_t u = 0; u < found.classes.size(); ++u) {
    add("f1", found.classes[u].f1, static_cast<Index>(u));
    add("average_precision", found.classes[u].average_precision, static_cast<Index>(u));
  }
  return values;
}

// Of one class: who belongs to it, who is predicted, and by what value.
struct OneClass {
  std::vector<bool> is_own, is_predicted;
  std::vector<double> value;
};

OneClass Against(const ScoredSamples& samples, Index u) {
  OneClass one;
  for (Index i = 0; i < samples.size; ++i) {
    const double* row = samples.decision.data() + i * samples.width;
    if (samples.is_binary()) {
      one.is_own.push_back(samples.is_positive[i] == (u == 1));
      one.is_predicted.push_back((row[0] > 0) == (u == 1));
      one.value.push_back(u == 1 ? row[0] : -row[0]);
    } else {
      one.is_own.push_back(std::ranges::find(samples.truth[i], u) != samples.truth[i].end());
      one.is_predicted.push_back(
          samples.is_multilabel ? row[u] > 0 : std::max_element(row, row + samples.width) - row == u);
      one.value.push_back(row[u]);
    }
  }
  return one;
}

EvaluatedScore WilsonScore(std::string name, double hits, double count, double confidence) {
  const ConfidenceInterval interval = WilsonInterval(hits, count, confidence);
  return {std::move(name), hits / count, "wilson", interval.lower, interval.upper};
}

EvaluatedScore MakeScore(std::string name, double value, const char* method,
                         const std::optional<ConfidenceInterval>& interval) {
  if (!interval) return {std::move(name), value, "", 0, 0};
  return {std::move(name), value, method, interval->lower, interval->upper};
}

// Recall, precision and area of one class; the bootstrap adds the others.
EvaluatedClass EvaluateClass(const ScoredSamples& samples, Index u, double confidence) {
  const OneClass one = Against(samples, u);
  EvaluatedClass found{samples.classes[static_cast<std::size_t>(u)], 0, {}};
  double own = 0, predicted = 0, both = 0;
  for (std::size_t i = 0; i < one.value.size(); ++i) {
    own += one.is_own[i], predicted += one.is_predicted[i], both += one.is_own[i] && one.is_predicted[i];
  }
  found.samples = static_cast<Index>(own);
  if (own > 0) found.scores.push_back(WilsonScore("recall", both, own, confidence));
  if (predicted > 0) found.scores.push_back(WilsonScore("precision", both, predicted, confidence));
  if (const auto interval = DelongInterval(one.is_own, one.value, confidence)) {
    const double area = *ScoreClassification(one.is_own, one.value).auc;
    found.scores.push_back(MakeScore("auc", area, "delong", interval));
  }
  return found;
}

// What is predicted best without a look at any feature.
std::optional<EvaluatedScore> Baseline(const ScoredSamples& samples, double confidence) {
  if (samples.is_regression()) {
    const double mean = std::accumulate(samples.targets.begin(), samples.targets.end(), 0.0) /
                        static_cast<double>(samples.size);
    return EvaluatedScore{
        "rmse", ScoreRegression(samples.targets, std::vector<double>(samples.targets.size(), mean)).rmse, "",
        0, 0};
  }
  if (samples.is_multilabel) return std::nullopt;
  std::map<Index, double> counts;
  for (Index i = 0; i < samples.size; ++i) {
    if (samples.is_binary())
      ++counts[samples.is_positive[i] ? 1 : 0];
    else if (!samples.truth[i].empty())
      ++counts[samples.truth[i].front()];
  }
  double most = 0;
  for (const auto& [u, count] : counts) most = std::max(most, count);
  return WilsonScore("accuracy", most, static_cast<double>(samples.size), confidence);
}

void CheckOptions(const EvaluateOptions& options) {
  constexpr int kMostReplicates = 1000000;  // more change no digit that is shown
  if (!(options.confidence > 0 && options.confidence < 1)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("`confidence` {}, expected a number above 0 and below 1", options.confidence),
                {"confidence", fmt::format("{}", options.confidence), "above 0, below 1"});
  }
  if (options.replicates < 0 || options.replicates > kMostReplicates) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("`replicates` {}, expected 0 to {}", options.replicates, kMostReplicates),
        {"replicates", fmt::format("{}", options.replicates), fmt::format("0 to {}", kMostReplicates)});
  }
}

void AddConfusion(const ScoredSamples& samples, ScoreReport& found) {
  if (found.plain.classes) {
    found.confusion = found.plain.classes->confusion;
    found.confusion_rows = found.plain.classes->confusion_rows;
  }
  if (!samples.is_binary()) return;
  found.confusion.assign(2, std::vector<Index>(2, 0));
  found.confusion_rows = samples.classes;
  for (Index i = 0; i < samples.size; ++i)
    ++found.confusion[samples.is_positive[i] ? 1 : 0][samples.decision[i] > 0 ? 1 : 0];
}

void AddScores(const ScoredSamples& samples, const EvaluateOptions& options, const Context& context,
               ScoreReport& found) {
  RunControl control(context);
  ThreadPool pool(context.threads);
  const ScopedPoll poll(pool, [&control] { control.ThrowIfStopped(); });
  std::vector<Index> all(static_cast<std::size_t>(samples.size));
  std::iota(all.begin(), all.end(), Index{0});
  std::vector<Key> keys;
  const std::vector<double> values = AllScores(samples, all, &keys);
  const auto intervals =
      BootstrapIntervals(samples.size, options.replicates, options.confidence, context.seed, pool,
                         [&](std::span<const Index> drawn) { return AllScores(samples, drawn, nullptr); });
  for (Index u = 0; u < static_cast<Index>(samples.classes.size()); ++u)
    found.classes.push_back(EvaluateClass(samples, u, options.confidence));
  const auto count = static_cast<double>(samples.size);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (std::isnan(values[k])) continue;
    const auto& [name, of_class] = keys[k];
    EvaluatedScore score =
        MakeScore(name, values[k], "bootstrap", intervals.empty() ? std::nullopt : intervals[k]);
    if (of_class < 0 && name == "accuracy")
      score = WilsonScore(name, std::round(values[k] * count), count, options.confidence);
    if (of_class < 0 && name == "auc")
      score = MakeScore(name, values[k], "delong",
                        DelongInterval(samples.is_positive, samples.decision, options.confidence));
    if (name == "correlation")
      score =
          MakeScore(name, values[k], "fisher", FisherInterval(values[k], samples.size, options.confidence));
    (of_class < 0 ? found.scores : found.classes[static_cast<std::size_t>(of_class)].scores)
        .push_back(std::move(score));
  }
  if (!found.plain.classes) return;
  for (const auto& [k, share] : found.plain.classes->top)
    found.scores.push_back(
        WilsonScore(fmt::format("top_{}", k), std::round(share * count), count, options.confidence));
}

Json ScoresJson(const std::vector<EvaluatedScore>& scores) {
  Json json = Json::object();
  for (const EvaluatedScore& score : scores) {
    json[score.name] = {{"value", score.value}};
    if (score.method.empty()) continue;
    json[score.name]["interval"] = {score.lower, score.upper};
    json[score.name]["method"] = score.method;
  }
  return json;
}

std::string ScoreText(const EvaluatedScore& score) {
  if (score.method.empty()) return fmt::format("{:<18} {:>8.4f}", score.name, score.value);
  return fmt::format("{:<18} {:>8.4f}   {:>8.4f} to {:.4f}  {}", score.name, score.value, score.lower,
                     score.upper, score.method);
}

}  // namespace

ScoreReport Evaluate(const Model& model, const Dataset& data, const EvaluateOptions& options,
                     const Context& context) {
  CheckOptions(options);
  if (data.labels.empty()) {
    throw Error(ErrorKind::kData,
                "the data has no labels, expected those that the predictions are compared with");
  }
  ScoreReport found;
  found.confidence = options.confidence;
  found.replicates = options.replicates;
  found.prediction = model.Predict(data, context, options.predict);
  std::vector<std::pair<LogLevel, std::string>> notes;
  Context noting = context;
  noting.log = [&notes](LogLevel level, std::string_view line) { notes.emplace_back(level, line); };
  found.plain = ScorePrediction(model, data.labels, found.prediction, noting);
  found.samples = found.plain.samples;
  if (!found.plain.scores && !found.plain.classes && !found.plain.regression)
    throw Error(ErrorKind::kData, notes.empty() ? "no sample can be scored" : notes.back().second);
  for (const auto& [level, line] : notes) {
    if (context.log) context.log(level, line);
  }
  found.positive_class = found.plain.positive_class;
  const ScoredSamples samples = MakeSamples(model, data.labels, found.prediction, found.plain);
  AddConfusion(samples, found);
  AddScores(samples, options, context, found);
  found.baseline = Baseline(samples, options.confidence);
  return found;
}

std::string ScoreReport::ToText() const {
  std::string text = fmt::format("{} samples; {:g} % confidence intervals\n\n", samples, 100 * confidence);
  for (const EvaluatedScore& score : scores) text += ScoreText(score) + "\n";
  if (baseline) {
    text += fmt::format(
        "\n{}: {} {:.4f}\n",
        baseline->name == "rmse" ? "the mean for every sample" : "the most frequent class for every sample",
        baseline->name, baseline->value);
  }
  constexpr std::size_t kMostClasses = 50;  // longer lists belong into the summary
  for (std::size_t u = 0; u < std::min(classes.size(), kMostClasses); ++u) {
    text += fmt::format("\nclass '{}': {} samples\n", classes[u].name, classes[u].samples);
    for (const EvaluatedScore& score : classes[u].scores) text += "  " + ScoreText(score) + "\n";
  }
  if (classes.size() > kMostClasses)
    text += fmt::format("\nand {} classes more\n", classes.size() - kMostClasses);
  return text;
}

std::string ScoreReport::ToJson() const {
  Json json = {{"samples", samples},
               {"confidence", confidence},
               {"replicates", replicates},
               {"scores", ScoresJson(scores)}};
  if (!positive_class.empty()) json["positive_class"] = positive_class;
  if (baseline) json["baseline"] = ScoresJson({*baseline});
  if (!classes.empty()) json["classes"] = Json::array();
  for (const EvaluatedClass& one : classes)
    json["classes"].push_back(
        {{"class", one.name}, {"samples", one.samples}, {"scores", ScoresJson(one.scores)}});
  if (!confusion.empty()) {
    json["confusion"] = confusion;
    json["confusion_rows"] = confusion_rows;
  }
  if (plain.outlier_fraction) json["outlier_fraction"] = *plain.outlier_fraction;
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kweave
