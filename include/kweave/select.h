/// Choosing options by cross-validation: every point of a grid is trained and scored on the same folds, along
/// warm paths; the best one is trained on all samples.
///
///     kweave::SelectRequest request;
///     request.grid = {{"C", {0.1, 1.0, 10.0}}, {"norm", {1.0, 2.0}}};
///     request.folder = "selection";  // a run that was killed goes on from here
///     const kweave::Selection found = kweave::Select(data, request, kweave::Context());
///     std::cout << found.ToText();
///
/// Everything that is learned from samples (widths, normalisation, weights) is learned from those of a
/// training fold alone.
#ifndef KWEAVE_SELECT_H_
#define KWEAVE_SELECT_H_

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/model.h"
#include "kweave/option_record.h"
#include "kweave/options.h"

namespace kweave {

/// An option of training and the values it is tried with.
struct GridAxis {
  std::string option;               ///< by its name in TrainOptionRecords
  std::vector<OptionValue> values;  ///< of the type of the option; of `kernels` each is a set of kernels
};

/// What is learned from, and what is scored: positions of samples, ascending.
struct Fold {
  std::vector<Index> train;
  std::vector<Index> test;
};

/// How the choice is made. Each member has a record in SelectOptionRecords.
struct SelectOptions {
  std::string split = "auto";  ///< a name of the table of splits
  int folds = 5;               ///< of each repeat; subsample: how many splits
  int repeats = 1;             ///< of the folds, each time drawn anew
  double test_share = 0.2;     ///< subsample: of the samples
  std::string score = "auto";  ///< a name of the table of scores
  std::string rule = "best";   ///< "best" or "one-standard-error"
  int nested = 0;              ///< outer folds, each with a selection of its own; 0: none
  int permutations = 0;        ///< of the labels, each with a selection of its own
  /// Separated by commas: "constant", "uniform", "single"; or "none".
  std::string baselines = "constant,uniform,single";
  int fold = 0;  ///< compute the points of this fold alone, counted from 1, and choose nothing; 0: all
};

/// One record per option of a selection, as TrainOptionRecords has those of training.
std::span<const OptionRecord<SelectOptions>> SelectOptionRecords();

/// What is asked for.
struct SelectRequest {
  TrainOptions train;          ///< everything that the grid does not vary
  std::vector<GridAxis> grid;  ///< all combinations of their values are tried; the first varies slowest
  SelectOptions options;
  std::vector<Fold> given_folds;    ///< in place of `split`, `folds` and `repeats`; empty: these
  std::vector<std::string> groups;  ///< of every sample: no group is on both sides of a fold; empty: none
  /// Where finished points, the table and the model go; empty: nowhere. A run with the same request and data
  /// goes on with what it finds there.
  std::string folder;
  std::vector<std::string> merge;  ///< other folders of the same request, whose points count as finished
  bool wants_model = true;         ///< trains the point chosen on all samples
};

/// The value of an option at a point, as JSON.
using PointValues = std::vector<std::pair<std::string, std::string>>;

/// A point of the grid, or a baseline, and what it scored.
struct ScoredPoint {
  PointValues values;               ///< of the axes of the grid
  double score = 0;                 ///< mean over the folds
  std::optional<double> error;      ///< standard error of the mean; none where there is one fold only
  std::vector<double> fold_scores;  ///< fold after fold; empty where scores are of all folds together
  double kernels_active = 0;        ///< mean number over the folds
  double seconds = 0;               ///< of all folds, as they were computed
};

/// A kernel over the folds at the point chosen.
struct KernelStability {
  std::string name;
  std::vector<double> shares;  ///< of the sum of all weights, fold after fold
  double mean = 0, deviation = 0;
  double active = 0;  ///< share of the folds in which it has a weight
};

/// What a nested selection scored on folds that no choice has seen.
struct NestedResult {
  double score = 0;
  std::optional<double> error;
  std::vector<double> fold_scores;
  std::vector<Index> chosen;  ///< the point of the grid, outer fold after outer fold
};

/// The same procedure on data whose labels were permuted.
struct PermutationResult {
  double observed = 0;         ///< with the labels as they are
  std::vector<double> scores;  ///< with permuted ones
  double p_value = 1;          ///< (1 + those at least as good as observed) / (1 + their number)
};

/// Another way to predict, scored on the same folds.
struct Baseline {
  std::string name;      ///< "constant", "uniform", "single"
  std::string sentence;  ///< what it is
  ScoredPoint best;
};

/// Result of Select.
struct Selection {
  Status status = Status::kConverged;  ///< or why it ended early
  Index done = 0, total = 0;           ///< points of folds of the grid
  std::string score;                   ///< the name of the score
  bool is_loss = false;                ///< the smaller the better
  Index samples = 0, folds = 0;        ///< folds of all repeats
  std::string split;                   ///< how the folds were drawn
  std::string rule;
  std::vector<ScoredPoint> points;  ///< none where the run ended early
  std::optional<Index> best;        ///< of the best mean
  std::optional<Index> chosen;      ///< by the rule
  std::vector<KernelStability> stability;
  std::vector<Baseline> baselines;
  std::optional<NestedResult> nested;
  std::optional<PermutationResult> permutation;
  double seconds = 0;  ///< of all points, as they were computed, and of what came after them
  std::optional<Model> model;

  std::string ToText() const;
  std::string ToJson() const;
  /// All points as lines between tabs, with a header.
  std::string ToTable() const;
  /// What ToJson wrote; without the model. Throws Error(kData).
  static Selection FromJson(const std::string& json);
};

/// Throws Error(kUsage) on wrong options and on a folder of another request, Error(kData) on data that cannot
/// be split and on damaged files. A run that is stopped returns what it has.
Selection Select(const Dataset& data, const SelectRequest& request, const Context& context);

/// The selection that a run left in a folder; with its model, where there is one. Throws Error(kData).
Selection LoadSelection(const std::string& folder);

}  // namespace kweave

#endif  // KWEAVE_SELECT_H_
