#include "select/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "kweave/error.h"
#include "kweave/evaluate.h"
#include "kweave/scores.h"
#include "select/grid.h"
#include "select/reuse.h"
#include "select/select_options.h"
#include "select/subset.h"
#include "train/training_session.h"

namespace kweave {
namespace {

constexpr std::size_t kKernelsKept = 1000;  // weights in a line: some ten kilobytes of it

std::string KeyOf(const Validation& table, std::size_t fold, std::size_t point) {
  return fmt::format("{} fold {} point {}", table.name, fold + 1, point + 1);
}

bool IsLeaveOneOut(const Validation& table) {
  return std::ranges::all_of(table.folds, [](const Fold& fold) { return fold.test.size() == 1; });
}

Json ScoresJson(const std::vector<std::pair<std::string, double>>& scores) {
  Json json = Json::object();
  for (const auto& [name, value] : scores) json[name] = value;
  return json;
}

// Each kernel's share of the sum of all weights.
std::vector<double> SharesOf(const Summary& summary) {
  std::vector<double> shares;
  for (const KernelReport& kernel : summary.kernels) shares.push_back(kernel.weight);
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (total > 0) std::ranges::for_each(shares, [total](double& share) { share /= total; });
  return shares;
}

std::optional<double> Value(const Json& line, const std::string& score) {
  const Json& scores = line.at("scores");
  if (!scores.contains(score) || !scores.at(score).is_number()) return std::nullopt;
  return scores.at(score).get<double>();
}

[[noreturn]] void FailScore(const Json& line, const std::string& score, std::size_t fold) {
  std::vector<std::string> known;
  for (const auto& [name, value] : line.at("scores").items()) known.push_back(name);
  throw Error(ErrorKind::kUsage,
              fmt::format("`score` {} is not defined in fold {}; there are {}", score, fold + 1,
                          known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))),
              {"score", score, fmt::format("one of {}", fmt::join(known, ", "))});
}

}  // namespace

ScoredPoint MeanOf(std::vector<double> scores) {
  ScoredPoint point;
  const auto count = static_cast<double>(scores.size());
  point.score = std::accumulate(scores.begin(), scores.end(), 0.0) / count;
  double squares = 0;
  for (const double score : scores) squares += (score - point.score) * (score - point.score);
  if (scores.size() > 1) point.error = std::sqrt(squares / (count - 1) / count);
  point.fold_scores = std::move(scores);
  return point;
}

std::vector<std::pair<std::string, double>> ScoreDecisions(Task task, const Labels& labels,
                                                           const std::vector<std::string>& classes,
                                                           std::span<const double> decision) {
  PredictionSummary summary;
  if (task == Task::kRegress) {
    summary.regression = ScoreRegression(labels.number, decision);
  } else if (task == Task::kOneClass) {
    summary.scores = ScoreClassification(InlierLabels(labels), decision);
  } else if (decision.size() == labels.text.size()) {
    summary.scores = ScoreClassification(PositiveLabels(labels, classes, nullptr), decision);
  } else {
    std::vector<std::string> unknown;
    const std::vector<std::vector<Index>> truth = TrueClasses(labels, classes, &unknown);
    summary.classes = ScoreClasses(truth, decision, classes, !labels.separator.empty(), unknown);
  }
  return ScoreValues(summary);
}

Json LineOf(const Model& model, const Dataset& test, double seconds, const Context& context) {
  const Prediction prediction = model.Predict(test, context);
  const Summary& summary = model.summary();
  Json line = {{"scores", ScoresJson(ScoreValues(ScorePrediction(model, test.labels, prediction, context)))},
               {"kernels_active", summary.kernels_active},
               {"status", ToString(summary.status)},
               {"gap", summary.relative_gap},
               {"support", summary.n_support},
               {"seconds", seconds}};
  if (summary.kernels.size() <= kKernelsKept) line["shares"] = SharesOf(summary);
  // One sample has no score by itself but whether it is right: scores are of all folds together.
  if (test.size == 1) line["decision"] = prediction.decision, line["classes"] = model.classes();
  return line;
}

ValidationRunner::ValidationRunner(PointStore& store, const Context& context)
    : store_(store), outer_(context), inner_(context) {
  inner_.time_limit_seconds = 0;  // a training that ends early would be scored as it is
  inner_.stop_requested = [this] { return ShouldStop(); };
  inner_.log = [this](LogLevel level, std::string_view line) {
    if (!outer_.log || level == LogLevel::kDetail) return;
    if (seen_notes_.insert(std::string(line)).second) outer_.log(level, line);  // folds repeat them
  };
  inner_.progress = [this](const Progress& progress) {
    if (!outer_.progress) return;
    Progress own = progress;
    own.seconds = watch_.Seconds();
    own.stage = stage_;
    own.stage_gap = progress.relative_gap;
    outer_.progress(own);
  };
}

bool ValidationRunner::ShouldStop() {
  if (has_stopped_) return true;
  has_timed_out_ = outer_.time_limit_seconds > 0 && watch_.Seconds() > outer_.time_limit_seconds;
  has_stopped_ = has_timed_out_ || (outer_.stop_requested && outer_.stop_requested());
  return has_stopped_;
}

Index ValidationRunner::Done(const Validation& table) const {
  Index done = 0;
  for (std::size_t f = 0; f < table.folds.size(); ++f) {
    for (std::size_t k = 0; k < table.points.size(); ++k) done += store_.Find(KeyOf(table, f, k)) != nullptr;
  }
  return done;
}

const Json& ValidationRunner::Line(const Validation& table, std::size_t fold, std::size_t point) const {
  return *store_.Find(KeyOf(table, fold, point));
}

std::optional<Model> ValidationRunner::Train(const Dataset& data, const TrainOptions& options) {
  try {
    Model model = kweave::Train(data, options, inner_);
    if (model.summary().status == Status::kInterrupted) return std::nullopt;
    return model;
  } catch (const Error&) {
    if (has_stopped_) return std::nullopt;
    throw;
  }
}

bool ValidationRunner::RunPath(const Validation& table, std::size_t fold, std::span<const Index> path,
                               const Dataset& train, const Dataset& test) {
  TrainingSession session(train, inner_);
  const std::vector<Index> starts = Starts(path, table.points);
  std::map<Index, Model> kept;  // answers that later steps start from
  const auto key = [&](Index step) {
    return KeyOf(table, fold, static_cast<std::size_t>(path[static_cast<std::size_t>(step)]));
  };
  for (Index step = 0; step < std::ssize(path); ++step) {
    const auto serves_after = [&](Index own, Index last) {
      return std::find(starts.begin() + last + 1, starts.end(), own) != starts.end();
    };
    if (store_.Find(key(step)) != nullptr) continue;
    if (ShouldStop()) return false;
    const Index from = starts[static_cast<std::size_t>(step)];
    if (from >= 0 && !kept.contains(from)) {
      if (std::optional<Model> state = store_.LoadState(key(from))) kept.emplace(from, std::move(*state));
    }
    const Model* const start = kept.contains(from) ? &kept.at(from) : nullptr;
    const auto point = static_cast<std::size_t>(path[static_cast<std::size_t>(step)]);
    stage_ = fmt::format("{}: fold {} of {}, point {} of {}", table.name, fold + 1, table.folds.size(),
                         point + 1, table.points.size());
    TrainOptions options = Subset(table.points[point], table.folds[fold].train);
    if (table.adapt) options = table.adapt(options, train);
    const Stopwatch watch;
    Model model = start != nullptr && AlsoSolves(*start, options)
                      ? *start
                      : session.Train(options, start, /*certifies=*/false);
    if (has_stopped_) return false;
    const Json line = LineOf(model, test, watch.Seconds(), inner_);
    if (has_stopped_) return false;
    // In this order: a line without its state would make a later point start cold.
    if (serves_after(step, step)) store_.SaveState(key(step), model);
    store_.Append(key(step), line);
    if (serves_after(step, step)) kept.insert_or_assign(step, std::move(model));
    for (auto at = kept.begin(); at != kept.end();) {
      if (serves_after(at->first, step)) {
        ++at;
      } else {
        store_.RemoveState(key(at->first));
        at = kept.erase(at);
      }
    }
  }
  for (Index step = 0; step < std::ssize(path); ++step) store_.RemoveState(key(step));
  return true;
}

bool ValidationRunner::Run(const Validation& table) {
  const std::vector<std::vector<Index>> paths = Paths(table.points);
  for (std::size_t f = 0; f < table.folds.size(); ++f) {
    if (table.only_fold > 0 && f + 1 != static_cast<std::size_t>(table.only_fold)) continue;
    const auto is_done = [&](std::size_t k) { return store_.Find(KeyOf(table, f, k)) != nullptr; };
    bool is_complete = true;
    for (std::size_t k = 0; k < table.points.size(); ++k) is_complete = is_complete && is_done(k);
    if (is_complete) continue;
    const Fold& fold = table.folds[f];
    const Dataset train = Subset(*table.data, fold.train, fold.train);
    const Dataset test = Subset(*table.data, fold.test, fold.train);
    try {
      for (const std::vector<Index>& path : paths) {
        if (!RunPath(table, f, path, train, test)) return false;
      }
    } catch (const Error& error) {
      if (has_stopped_) return false;
      throw Error(error.kind(), fmt::format("fold {}: {}", f + 1, error.what()),
                  {error.field(), error.value(), error.rule()});
    }
  }
  return true;
}

std::vector<ScoredPoint> ValidationRunner::Scores(const Validation& table, const std::string& score) const {
  // Means over samples are means over folds of one sample, too.
  const bool is_pooled = IsLeaveOneOut(table) && score != "accuracy" && score != "mae";
  std::vector<ScoredPoint> points;
  for (std::size_t k = 0; k < table.points.size(); ++k) {
    std::vector<double> scores, decision;
    Labels labels;
    labels.separator = table.data->labels.separator;
    double active = 0, seconds = 0;
    for (std::size_t f = 0; f < table.folds.size(); ++f) {
      const Json& line = Line(table, f, k);
      active += line.at("kernels_active").get<double>();
      seconds += line.at("seconds").get<double>();
      if (!is_pooled) {
        const std::optional<double> value = Value(line, score);
        if (!value) FailScore(line, score, f);
        scores.push_back(*value);
        continue;
      }
      const auto i = static_cast<std::size_t>(table.folds[f].test[0]);
      labels.text.push_back(table.data->labels.text[i]);
      if (!table.data->labels.number.empty()) labels.number.push_back(table.data->labels.number[i]);
      for (const Json& value : line.at("decision")) decision.push_back(value.get<double>());
    }
    if (is_pooled) {
      const auto classes = Line(table, 0, k).at("classes").get<std::vector<std::string>>();
      const Json all = {
          {"scores", ScoresJson(ScoreDecisions(table.points[k].task, labels, classes, decision))}};
      if (!Value(all, score)) FailScore(all, score, 0);
      points.emplace_back().score = *Value(all, score);
    } else {
      points.push_back(MeanOf(std::move(scores)));
    }
    points.back().kernels_active = active / static_cast<double>(table.folds.size());
    points.back().seconds = seconds;
  }
  return points;
}

}  // namespace kweave
