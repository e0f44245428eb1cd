#include "kweave/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/require_numbers.h"
#include "data/label_key.h"
#include "kweave/error.h"
#include "model/json.h"

namespace kweave {
namespace {

struct Confusion {
  double true_positive = 0, false_positive = 0, true_negative = 0, false_negative = 0;
  double positives() const { return true_positive + false_negative; }
  double negatives() const { return true_negative + false_positive; }
};

Confusion Count(const std::vector<bool>& is_positive, std::span<const double> decision) {
  Confusion count;
  for (std::size_t i = 0; i < decision.size(); ++i) {
    if (decision[i] > 0) {
      ++(is_positive[i] ? count.true_positive : count.false_positive);
    } else {
      ++(is_positive[i] ? count.false_negative : count.true_negative);
    }
  }
  return count;
}

double BalancedAccuracy(const Confusion& c) {
  if (c.positives() == 0) return c.true_negative / c.negatives();
  if (c.negatives() == 0) return c.true_positive / c.positives();
  return (c.true_positive / c.positives() + c.true_negative / c.negatives()) / 2;
}

double Matthews(const Confusion& c) {
  const double product = (c.true_positive + c.false_positive) * c.positives() * c.negatives() *
                         (c.true_negative + c.false_negative);
  if (product == 0) return 0;
  return (c.true_positive * c.true_negative - c.false_positive * c.false_negative) / std::sqrt(product);
}

// Walks down the decision values; every group of equal values is one step of both curves.
void AddCurves(const std::vector<bool>& is_positive, std::span<const double> decision, const Confusion& count,
               ClassificationScores& scores) {
  std::vector<std::size_t> order(decision.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater{}, [&](std::size_t i) { return decision[i]; });
  double above_positive = 0, above_negative = 0, area = 0, precision_sum = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    double positive = 0, negative = 0;
    std::size_t end = begin;
    for (; end < order.size() && decision[order[end]] == decision[order[begin]]; ++end) {
      ++(is_positive[order[end]] ? positive : negative);
    }
    area += negative * (above_positive + positive / 2);
    above_positive += positive;
    above_negative += negative;
    precision_sum += positive * above_positive / (above_positive + above_negative);
    begin = end;
  }
  if (count.positives() > 0) scores.average_precision = precision_sum / count.positives();
  if (count.positives() > 0 && count.negatives() > 0)
    scores.auc = area / (count.positives() * count.negatives());
}

// Probabilities of 0 and 1 count as those next to them, else one mistake would cost infinitely much.
double LogLoss(const std::vector<bool>& is_positive, std::span<const double> probability) {
  constexpr double kLeast = std::numeric_limits<double>::epsilon();  // as scikit-learn clips
  double sum = 0;
  for (std::size_t i = 0; i < probability.size(); ++i) {
    const double p = std::clamp(probability[i], kLeast, 1 - kLeast);
    sum -= std::log(is_positive[i] ? p : 1 - p);
  }
  return sum / static_cast<double>(probability.size());
}

void CheckPredictions(std::size_t labels, std::span<const double> predictions) {
  if (predictions.empty() || labels != predictions.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} labels for {} predictions", labels, predictions.size()));
  }
  RequireNumbers(predictions);
}

void AddClasses(const MulticlassScores& scores, Json& json) {
  const bool is_multilabel = scores.hamming_loss.has_value();
  json["accuracy"] = scores.accuracy;
  if (!is_multilabel) {
    json["balanced_accuracy"] = scores.balanced_accuracy;
    json["mcc"] = scores.mcc;
  } else {
    json["hamming_loss"] = *scores.hamming_loss;
  }
  json["mean_mcc"] = scores.mean_mcc;
  json["f1"] = scores.f1;
  json["classes_occurring"] = scores.classes_occurring;
  if (scores.average_precision) json["average_precision"] = *scores.average_precision;
  if (scores.log_loss) json["log_loss"] = *scores.log_loss;
  if (!is_multilabel) {
    json["top"] = Json::object();
    for (const auto& [k, share] : scores.top) json["top"][fmt::format("{}", k)] = share;
    json["confusion"] = scores.confusion;
    json["confusion_rows"] = scores.confusion_rows;
  }
  json["classes"] = Json::array();
  for (const ClassScores& one : scores.classes) {
    Json entry = {{"class", one.name},    {"samples", one.samples}, {"precision", one.precision},
                  {"recall", one.recall}, {"f1", one.f1},           {"mcc", one.mcc}};
    if (one.average_precision) entry["average_precision"] = *one.average_precision;
    json["classes"].push_back(std::move(entry));
  }
}

// With every row of a member that is a matrix on one line.
std::string Indented(const Json& json) {
  const auto text = [](const Json& value, int indent) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
  };
  std::vector<std::string> members;
  for (const auto& [name, value] : json.items()) {
    std::string lines;
    if (value.is_array() && !value.empty() && value[0].is_array()) {
      std::vector<std::string> rows;
      for (const Json& row : value) rows.push_back(text(row, -1));
      lines = fmt::format("[\n  {}\n]", fmt::join(rows, ",\n  "));
    } else {
      lines = text(value, 2);
    }
    for (std::size_t at = lines.find('\n'); at != lines.npos; at = lines.find('\n', at + 1)) {
      lines.insert(at + 1, "  ");
    }
    members.push_back(fmt::format("  {}: {}", text(name, -1), lines));
  }
  return fmt::format("{{\n{}\n}}", fmt::join(members, ",\n"));
}

}  // namespace

ClassificationScores ScoreClassification(const std::vector<bool>& is_positive,
                                         std::span<const double> decision,
                                         std::span<const double> probability) {
  CheckPredictions(is_positive.size(), decision);
  if (!probability.empty()) CheckPredictions(is_positive.size(), probability);
  const Confusion count = Count(is_positive, decision);
  ClassificationScores scores;
  scores.accuracy = (count.true_positive + count.true_negative) / static_cast<double>(decision.size());
  scores.balanced_accuracy = BalancedAccuracy(count);
  scores.mcc = Matthews(count);
  const double f1_weight = 2 * count.true_positive + count.false_positive + count.false_negative;
  scores.f1 = f1_weight > 0 ? 2 * count.true_positive / f1_weight : 0;
  AddCurves(is_positive, decision, count, scores);
  if (!probability.empty()) scores.log_loss = LogLoss(is_positive, probability);
  return scores;
}

RegressionScores ScoreRegression(std::span<const double> targets, std::span<const double> predicted) {
  CheckPredictions(targets.size(), predicted);
  const auto n = static_cast<double>(targets.size());
  const double target_mean = std::accumulate(targets.begin(), targets.end(), 0.0) / n;
  const double predicted_mean = std::accumulate(predicted.begin(), predicted.end(), 0.0) / n;
  double squares = 0, absolute = 0, target_squares = 0, predicted_squares = 0, products = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double error = targets[i] - predicted[i];
    const double target = targets[i] - target_mean, value = predicted[i] - predicted_mean;
    squares += error * error;
    absolute += std::abs(error);
    target_squares += target * target;
    predicted_squares += value * value;
    products += target * value;
  }
  RegressionScores scores;
  scores.rmse = std::sqrt(squares / n);
  scores.mae = absolute / n;
  if (targets.size() > 1) {
    scores.r2 = target_squares > 0 ? 1 - squares / target_squares : squares > 0 ? 0 : 1;
  }
  if (target_squares > 0 && predicted_squares > 0) {
    scores.correlation = products / std::sqrt(target_squares) / std::sqrt(predicted_squares);
  }
  return scores;
}

std::vector<bool> InlierLabels(const Labels& labels) {
  if (labels.empty() || !labels.is_numeric()) return {};
  const auto [outlier, inlier] = std::ranges::minmax(labels.number);
  std::vector<bool> is_inlier;
  for (const double label : labels.number) {
    if (outlier == inlier || (label != outlier && label != inlier)) return {};
    is_inlier.push_back(label == inlier);
  }
  return is_inlier;
}

std::vector<bool> PositiveLabels(const Labels& labels, const std::vector<std::string>& classes,
                                 std::string* unknown_label) {
  const std::string first = LabelKey(classes[0]), second = LabelKey(classes[1]);
  std::vector<bool> is_positive;
  for (std::size_t i = 0; i < labels.text.size(); ++i) {
    const std::string key = LabelKey(labels.text[i]);
    const bool is_second = key == second;
    if (key != first && !is_second) {
      if (unknown_label != nullptr) *unknown_label = labels.text[i];
      return {};
    }
    is_positive.push_back(is_second);
  }
  return is_positive;
}

std::string PredictionSummary::ToJson() const {
  Json json = {{"samples", samples}};
  if (scores) {
    json["positive_class"] = positive_class;
    json["accuracy"] = scores->accuracy;
    json["balanced_accuracy"] = scores->balanced_accuracy;
    if (scores->auc) json["auc"] = *scores->auc;
    if (scores->average_precision) json["average_precision"] = *scores->average_precision;
    json["mcc"] = scores->mcc;
    json["f1"] = scores->f1;
    if (scores->log_loss) json["log_loss"] = *scores->log_loss;
  }
  if (regression) {
    json["rmse"] = regression->rmse;
    json["mae"] = regression->mae;
    if (regression->r2) json["r2"] = *regression->r2;
    if (regression->correlation) json["correlation"] = *regression->correlation;
  }
  if (classes) AddClasses(*classes, json);
  if (outlier_fraction) json["outlier_fraction"] = *outlier_fraction;
  json["seconds"] = {{"total", seconds}};
  return Indented(json);
}

}  // namespace kweave
