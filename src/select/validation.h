// Cross-validation of many points on the same folds.
//
// Solves   one training problem for every point and fold; scores it on the samples left out.
// Method   fold after fold and, within it, path after path (select/grid.h): the kernels and their base
//          quantities are computed once for a path (train/training_session.h), and every model is the start
//          of the next. A point ends when the bounds of its solver meet the gap; only a model that is kept is
//          certified.
// Takes    samples, points, folds; finished points from the store, and puts others there.
// Holds    training sees a copy of the training samples of its fold and nothing else.
// Costs    the memory of one training, and a copy of the samples.
#ifndef KWEAVE_SELECT_VALIDATION_H_
#define KWEAVE_SELECT_VALIDATION_H_

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "kweave/select.h"
#include "select/point_store.h"

namespace kweave {

/// What one cross-validation is about.
struct Validation {
  std::string name;     ///< in the keys of its points
  const Dataset* data;  ///< kernel values in memory
  std::span<const TrainOptions> points;
  std::span<const Fold> folds;
  int only_fold = 0;  ///< counted from 1; 0: all
  /// What the options of a point are on the training samples of a fold; empty: the same everywhere.
  std::function<TrainOptions(const TrainOptions&, const Dataset&)> adapt = {};
};

/// Runs tables one after the other within the limits of one context.
class ValidationRunner {
 public:
  ValidationRunner(PointStore& store, const Context& context);
  /// Computes the points that are missing. False: stopped before all were there.
  bool Run(const Validation& table);
  /// How many points of the table are finished.
  Index Done(const Validation& table) const;
  /// The mean scores of all points, which must be finished. Throws Error(kUsage) where the score is not
  /// defined.
  std::vector<ScoredPoint> Scores(const Validation& table, const std::string& score) const;
  /// What was kept of a point.
  const Json& Line(const Validation& table, std::size_t fold, std::size_t point) const;
  /// The model on all samples of `data`; none where it was stopped.
  std::optional<Model> Train(const Dataset& data, const TrainOptions& options);
  /// True once it is to stop; stays true.
  bool ShouldStop();
  Status stop_reason() const { return has_timed_out_ ? Status::kTimeLimit : Status::kInterrupted; }
  /// Where progress is, for people.
  void SetStage(std::string stage) { stage_ = std::move(stage); }
  const Context& context() const { return inner_; }
  PointStore& store() { return store_; }

 private:
  bool RunPath(const Validation& table, std::size_t fold, std::span<const Index> path, const Dataset& train,
               const Dataset& test);

  PointStore& store_;
  const Context& outer_;
  Context inner_;  // of single trainings
  Stopwatch watch_;
  bool has_stopped_ = false, has_timed_out_ = false;
  std::string stage_;
  std::set<std::string> seen_notes_;
};

/// What is kept of a model and its predictions on test samples.
Json LineOf(const Model& model, const Dataset& test, double seconds, const Context& context);

/// Scores of decision values for the labels, all folds together or of a constant.
std::vector<std::pair<std::string, double>> ScoreDecisions(Task task, const Labels& labels,
                                                           const std::vector<std::string>& classes,
                                                           std::span<const double> decision);

/// Mean and standard error of scores.
ScoredPoint MeanOf(std::vector<double> scores);

}  // namespace kweave

#endif  // KWEAVE_SELECT_VALIDATION_H_
