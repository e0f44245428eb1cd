// Chooses options by cross-validation: scores a grid, its baselines, nested folds and permutations, and
// trains the point chosen.
//
// Next: select/validation.h, which trains and scores points.
#include "kweave/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>

#include "base/hash_index.h"
#include "base/stopwatch.h"
#include "kernel/language.h"
#include "kweave/error.h"
#include "kweave/output_file.h"
#include "kweave/train.h"
#include "select/folds.h"
#include "select/grid.h"
#include "select/point_store.h"
#include "select/select_options.h"
#include "select/subset.h"
#include "select/validation.h"
#include "train/effective_options.h"
#include "train/option_json.h"

namespace kweave {
namespace {

constexpr const char* kSummaryFile = "selection.json";  // docs/select.md
constexpr const char* kTableFile = "scores.tsv";
constexpr const char* kModelFile = "model.kweave";

void WriteFile(const std::string& folder, const char* name, const std::string& text) {
  OutputFile file((std::filesystem::path(folder) / name).string());
  file.Write(text);
  file.Commit();
}

// Whether score a is better than b.
bool IsBetter(double a, double b, bool is_loss) { return is_loss ? a < b : a > b; }

Index BestOf(std::span<const ScoredPoint> points, bool is_loss) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < points.size(); ++k) {
    if (IsBetter(points[k].score, points[best].score, is_loss)) best = k;
  }
  return static_cast<Index>(best);
}

// Breiman, Friedman, Olshen, Stone: Classification and regression trees (1984), section 3.4.3.
Index ByRule(const std::string& rule, std::span<const ScoredPoint> points,
             std::span<const TrainOptions> options, bool is_loss) {
  const auto best = static_cast<std::size_t>(BestOf(points, is_loss));
  if (rule == "best") return static_cast<Index>(best);
  if (!points[best].error) {
    throw Error(
        ErrorKind::kUsage,
        "`rule` one-standard-error needs standard errors, which this score has none of with these folds",
        {"rule", rule, "best"});
  }
  const double limit = points[best].score + (is_loss ? 1 : -1) * *points[best].error;
  std::size_t chosen = best;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (IsBetter(limit, points[k].score, is_loss)) continue;
    if (std::pair(points[k].kernels_active, options[k].C) <
        std::pair(points[chosen].kernels_active, options[chosen].C))
      chosen = k;
  }
  return static_cast<Index>(chosen);
}

std::uint64_t HashFolds(std::span<const Fold> folds) {
  std::uint64_t hash = folds.size();
  for (const Fold& fold : folds) {
    for (const auto* side : {&fold.train, &fold.test}) {
      hash = MixHash(hash, side->size());
      for (const Index i : *side) hash = MixHash(hash, static_cast<std::uint64_t>(i));
    }
  }
  return hash;
}

// What makes finished points those of this request. What can change without them is left out.
Json RequestJson(const SelectRequest& request, const Dataset& data, std::span<const Fold> folds,
                 std::span<const TrainOptions> points, const Context& context) {
  Json grid = Json::object();
  for (const GridAxis& axis : request.grid) {
    Json values = Json::array();
    for (const TrainOptions& point : points) {
      const Json value = OptionsJson(point).at(axis.option);
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    }
    grid[axis.option] = values;
  }
  Json options = OptionsJson(request.train);
  for (const GridAxis& axis : request.grid) options.erase(axis.option);
  std::uint64_t weights = 0;
  for (const double weight : request.train.sample_weights)
    weights = MixHash(weights, static_cast<std::uint64_t>(weight * 0x1p32));
  // In the order in which differences are told.
  return {{"selection", 1},
          {"seed", context.seed},
          {"folds", folds.size()},
          {"grid", grid},
          {"options", options},
          {"samples", data.size},
          {"data", fmt::format("{:016x}", Fingerprint(data))},
          {"sample_weights", fmt::format("{:016x}", weights)},
          {"samples_of_folds", fmt::format("{:016x}", HashFolds(folds))}};
}

// The points without the weights: all options that shape these are as for the uniform sum.
std::vector<TrainOptions> UniformPoints(std::span<const TrainOptions> points) {
  std::vector<TrainOptions> uniform;
  std::vector<std::string> seen;
  for (TrainOptions point : points) {
    const TrainOptions defaults;
    point.norm = std::numeric_limits<double>::infinity();
    point.block_norm = 0;
    point.penalty = 0;
    point.regularizer = defaults.regularizer;
    point.weight_bounds.clear();
    point.class_norm.clear();
    point.weights_tolerance = 0;
    point.method = defaults.method;
    const std::string text = OptionsToJson(point);
    if (std::ranges::find(seen, text) != seen.end()) continue;
    seen.push_back(text);
    uniform.push_back(std::move(point));
  }
  return uniform;
}

// The run of one request.
class Selector {
 public:
  Selector(const Dataset& data, const SelectRequest& request, const Context& context)
      : original_(data),
        request_(request),
        context_(context),
        points_(GridPoints(request.train, request.grid)),
        data_(WithFiles(data, points_)),
        folds_(request.given_folds.empty() ? MakeOwnFolds(data_.labels, request.groups)
                                           : request.given_folds),
        store_(MakeStore()),
        runner_(*store_, context) {
    found_.score = EffectiveScore(request.options, request.train.task);
    found_.is_loss = IsLoss(found_.score);
    found_.samples = data.size;
    found_.folds = static_cast<Index>(folds_.size());
    found_.split = request.given_folds.empty()
                       ? EffectiveSplit(request.options, request.train.task, !request.groups.empty())
                       : "given";
    found_.rule = request.options.rule;
  }

  Selection Run() {
    const bool is_whole = RunSteps();
    if (!is_whole) found_.status = runner_.stop_reason();
    found_.done = runner_.Done(GridValidation());
    found_.total = static_cast<Index>(points_.size() * folds_.size());
    if (is_whole && request_.options.fold == 0) Write();
    return std::move(found_);
  }

 private:
  std::vector<Fold> MakeOwnFolds(const Labels& labels, std::span<const std::string> groups,
                                 int folds = 0) const {
    SelectOptions options = request_.options;
    if (folds > 0) {
      options.folds = folds, options.repeats = 1;
      if (options.split == "leave-one-out") options.split = "auto";
    }
    return MakeFolds(labels, static_cast<Index>(labels.text.size()), request_.train.task, options, groups,
                     context_.seed);
  }

  std::unique_ptr<PointStore> MakeStore() const {
    CheckFolds(folds_, data_.size);
    if (request_.options.fold > static_cast<int>(folds_.size())) {
      throw Error(ErrorKind::kUsage, {"fold", std::to_string(request_.options.fold),
                                      fmt::format("at most {}, the number of folds", folds_.size())});
    }
    if (request_.folder.empty()) return std::make_unique<PointStore>();
    const std::string suffix = request_.options.fold > 0 ? fmt::format("fold-{}", request_.options.fold) : "";
    return std::make_unique<PointStore>(
        request_.folder, RequestJson(request_, data_, folds_, points_, context_), request_.merge, suffix);
  }

  Validation GridValidation() const {
    return {.name = "grid",
            .data = &data_,
            .points = points_,
            .folds = folds_,
            .only_fold = request_.options.fold};
  }

  // False: stopped on the way.
  bool RunSteps() {
    if (!runner_.Run(GridValidation())) return false;
    if (request_.options.fold > 0) return true;
    found_.points = runner_.Scores(GridValidation(), found_.score);
    for (std::size_t k = 0; k < points_.size(); ++k) {
      found_.points[k].values = ValuesOf(points_[k], request_.grid);
      found_.seconds += found_.points[k].seconds;
    }
    found_.best = BestOf(found_.points, found_.is_loss);
    found_.chosen = ByRule(found_.rule, found_.points, points_, found_.is_loss);
    const Stopwatch watch;
    const bool is_whole = RunBaselines() && RunNested() && RunPermutations() && Refit();
    found_.seconds += watch.Seconds();
    return is_whole;
  }

  const TrainOptions& Chosen() const { return points_[static_cast<std::size_t>(*found_.chosen)]; }

  bool RunBaselines() {
    if (HasBaseline(request_.options, "constant")) AddConstant();
    return (!HasBaseline(request_.options, "uniform") || RunUniform()) &&
           (!HasBaseline(request_.options, "single") || RunSingle());
  }

  // What every sample of the training fold says, said of every test sample.
  std::vector<double> ConstantDecisions(const Fold& fold, std::vector<std::string>& classes) const {
    const Labels& labels = data_.labels;
    if (request_.train.task == Task::kRegress) {
      double sum = 0;
      for (const Index i : fold.train) sum += labels.number[static_cast<std::size_t>(i)];
      return std::vector<double>(fold.test.size(), sum / static_cast<double>(fold.train.size()));
    }
    std::map<std::string, Index> counts;
    for (const Index i : fold.train) ++counts[labels.text[static_cast<std::size_t>(i)]];
    std::size_t most = 0;
    Index largest = 0;
    for (const auto& [label, count] : counts) {
      if (count > largest) largest = count, most = classes.size();
      classes.push_back(label);
    }
    if (classes.size() == 2) return std::vector<double>(fold.test.size(), most == 1 ? 1.0 : -1.0);
    std::vector<double> decision;
    for (std::size_t i = 0; i < fold.test.size(); ++i) {
      for (std::size_t u = 0; u < classes.size(); ++u) decision.push_back(u == most ? 1.0 : 0.0);
    }
    return decision;
  }

  void AddConstant() {
    const bool has_one_label = request_.train.task == Task::kRegress ||
                               (request_.train.task == Task::kClassify && data_.labels.separator.empty());
    if (!has_one_label) return;
    std::vector<double> scores;
    for (const Fold& fold : folds_) {
      std::vector<std::string> classes;
      const std::vector<double> decision = ConstantDecisions(fold, classes);
      const Labels labels = Subset(data_, fold.test, fold.train).labels;
      const auto values = ScoreDecisions(request_.train.task, labels, classes, decision);
      const auto at = std::ranges::find(values, found_.score, &std::pair<std::string, double>::first);
      if (at == values.end()) return;  // a score that a constant does not have
      scores.push_back(at->second);
    }
    found_.baselines.push_back({"constant",
                                request_.train.task == Task::kRegress
                                    ? "the mean of the training fold"
                                    : "the most frequent class of the training fold",
                                MeanOf(std::move(scores))});
  }

  bool RunUniform() {
    if (request_.train.combine != Combine::kSum) return true;
    const std::vector<TrainOptions> uniform = UniformPoints(points_);
    const Validation table{.name = "uniform", .data = &data_, .points = uniform, .folds = folds_};
    if (!runner_.Run(table)) return false;
    const std::vector<ScoredPoint> scores = runner_.Scores(table, found_.score);
    AddBaseline("uniform", "the uniform sum of all kernels", uniform, scores);
    return true;
  }

  void AddBaseline(const char* name, std::string sentence, std::span<const TrainOptions> options,
                   std::span<const ScoredPoint> scores) {
    const auto best = static_cast<std::size_t>(BestOf(scores, found_.is_loss));
    ScoredPoint point = scores[best];
    std::vector<GridAxis> axes;
    for (const GridAxis& axis : request_.grid) {
      if (axis.option != "norm" && axis.option != "block_norm" && axis.option != "kernels")
        axes.push_back(axis);
    }
    point.values = ValuesOf(options[best], axes);
    found_.baselines.push_back({name, std::move(sentence), std::move(point)});
  }

  // Kernels by their numbers; what they are called is up to the training samples, whose widths they have.
  bool RunSingle() {
    if (request_.train.combine != Combine::kSum) return true;
    const std::vector<std::string> specs = EffectiveKernels(Chosen());
    const auto name_in = [this, specs](const Dataset& train, Index m) {
      return ParseKernels(specs, train.views, context_.seed, train.numbering).Name(m);
    };
    const Index kernels = ParseKernels(specs, data_.views, context_.seed, data_.numbering).size();
    constexpr Index kMostSingles = 200;  // beyond it they would take longer than the grid
    if (kernels < 2 || kernels > kMostSingles || !AreNamesKernels(specs)) return true;
    const auto adapt = [name_in](const TrainOptions& point, const Dataset& train) {
      TrainOptions own = point;
      own.kernels = {name_in(train, std::stol(point.kernels.front()))};
      return own;
    };
    std::vector<TrainOptions> singles;
    for (Index m = 0; m < kernels; ++m) singles.push_back(SinglePoint(Chosen(), m));
    const Validation all{
        .name = "single", .data = &data_, .points = singles, .folds = folds_, .adapt = adapt};
    if (!runner_.Run(all)) return false;
    const Index best = BestOf(runner_.Scores(all, found_.score), found_.is_loss);
    std::vector<TrainOptions> path;
    for (const TrainOptions& point : UniformPoints(points_)) {
      const bool is_at_chosen = EffectiveKernels(point) == specs && point.normalize == Chosen().normalize;
      if (is_at_chosen) path.push_back(SinglePoint(point, best));
    }
    const Validation one{.name = fmt::format("single {}", best + 1),
                         .data = &data_,
                         .points = path,
                         .folds = folds_,
                         .adapt = adapt};
    if (!runner_.Run(one)) return false;
    const std::string name = ParseKernels(specs, data_.views, context_.seed, data_.numbering).Name(best);
    AddBaseline("single", fmt::format("the best kernel by itself, {}", name), path,
                runner_.Scores(one, found_.score));
    return true;
  }

  static TrainOptions SinglePoint(const TrainOptions& point, Index kernel) {
    TrainOptions single = UniformPoints(std::span(&point, 1)).front();
    single.kernels = {std::to_string(kernel)};
    return single;
  }

  // Whether every kernel can be asked for by its name alone.
  bool AreNamesKernels(const std::vector<std::string>& specs) const {
    try {
      const KernelSet set = ParseKernels(specs, data_.views, context_.seed, data_.numbering);
      for (Index m = 0; m < set.size(); ++m) {
        const std::vector<std::string> name = {set.Name(m)};
        const KernelSet one = ParseKernels(name, data_.views, context_.seed, data_.numbering);
        if (one.size() != 1) return false;
      }
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  struct Outer {
    std::vector<double> scores;
    std::vector<Index> chosen;
  };

  // Selections on the training samples of outer folds, scored on their test samples; nothing where stopped.
  std::optional<Outer> Nest(ValidationRunner& runner, const Dataset& data) {
    Outer outer;
    const std::vector<Fold> folds = MakeOwnFolds(data.labels, request_.groups, request_.options.nested);
    for (std::size_t o = 0; o < folds.size(); ++o) {
      const std::string name = fmt::format("outer {} of {}", o + 1, folds.size());
      const Json* line = runner.store().Find(name);
      if (line == nullptr) {
        if (!RunOuter(runner, data, folds[o], name)) return std::nullopt;
        line = runner.store().Find(name);
      }
      outer.chosen.push_back(line->at("point").get<Index>());
      if (!line->at("scores").contains(found_.score))
        throw Error(ErrorKind::kUsage,
                    fmt::format("`score` {} is not defined in outer fold {}", found_.score, o + 1));
      outer.scores.push_back(line->at("scores").at(found_.score).get<double>());
    }
    return outer;
  }

  bool RunOuter(ValidationRunner& runner, const Dataset& data, const Fold& fold, const std::string& name) {
    const Dataset train = Subset(data, fold.train, fold.train), test = Subset(data, fold.test, fold.train);
    std::vector<std::string> groups;
    if (!request_.groups.empty()) {
      for (const Index i : fold.train) groups.push_back(request_.groups[static_cast<std::size_t>(i)]);
    }
    std::vector<TrainOptions> points;
    for (const TrainOptions& point : points_) points.push_back(Subset(point, fold.train));
    const std::vector<Fold> inner = MakeOwnFolds(train.labels, groups);
    const Validation table{.name = name, .data = &train, .points = points, .folds = inner};
    if (!runner.Run(table)) return false;
    const std::vector<ScoredPoint> scores = runner.Scores(table, found_.score);
    const Index chosen = ByRule(found_.rule, scores, points, found_.is_loss);
    runner.SetStage(name + ": the point chosen");
    const Stopwatch watch;
    const std::optional<Model> model = runner.Train(train, points[static_cast<std::size_t>(chosen)]);
    if (!model) return false;
    Json line = LineOf(*model, test, watch.Seconds(), runner.context());
    line["point"] = chosen;
    runner.store().Append(name, line);
    return true;
  }

  bool RunNested() {
    if (request_.options.nested == 0) return true;
    const std::optional<Outer> outer = Nest(runner_, data_);
    if (!outer) return false;
    const ScoredPoint mean = MeanOf(outer->scores);
    found_.nested = {mean.score, mean.error, mean.fold_scores, outer->chosen};
    return true;
  }

  // What the whole procedure scores on data: of nested folds, or of the point chosen.
  std::optional<double> ScoreProcedure(ValidationRunner& runner, const Dataset& data) {
    if (request_.options.nested > 0) {
      const std::optional<Outer> outer = Nest(runner, data);
      return outer ? std::optional(MeanOf(outer->scores).score) : std::nullopt;
    }
    const std::vector<Fold> folds =
        request_.given_folds.empty() ? MakeOwnFolds(data.labels, request_.groups) : request_.given_folds;
    const Validation table{.name = "grid", .data = &data, .points = points_, .folds = folds};
    if (!runner.Run(table)) return std::nullopt;
    const std::vector<ScoredPoint> scores = runner.Scores(table, found_.score);
    return scores[static_cast<std::size_t>(ByRule(found_.rule, scores, points_, found_.is_loss))].score;
  }

  bool RunPermutations() {
    if (request_.options.permutations == 0) return true;
    PermutationResult result;
    result.observed = request_.options.nested > 0
                          ? found_.nested->score
                          : found_.points[static_cast<std::size_t>(*found_.chosen)].score;
    Index as_good = 0;
    for (int k = 0; k < request_.options.permutations; ++k) {
      const std::string key = fmt::format("permutation {} nested {} {} {}", k + 1, request_.options.nested,
                                          found_.score, found_.rule);
      if (runner_.store().Find(key) == nullptr) {
        std::optional<double> score = ScorePermutation(k);
        if (!score) return false;
        runner_.store().Append(key, {{"score", *score}});
      }
      const double score = runner_.store().Find(key)->at("score").get<double>();
      as_good += !IsBetter(result.observed, score, found_.is_loss);
      result.scores.push_back(score);
    }
    result.p_value = static_cast<double>(1 + as_good) / (1.0 + request_.options.permutations);
    found_.permutation = std::move(result);
    return true;
  }

  std::optional<double> ScorePermutation(int k) {
    if (runner_.ShouldStop()) return std::nullopt;
    Dataset permuted = data_;
    permuted.labels = PermuteLabels(data_.labels, request_.groups,
                                    MixHash(context_.seed, static_cast<std::uint64_t>(k) + 1));
    PointStore own;  // a permutation is kept as a whole
    Context within = runner_.context();
    within.log = {};  // what there is to say was said of the labels as they are
    ValidationRunner runner(own, within);
    runner_.SetStage(fmt::format("permutation {} of {}", k + 1, request_.options.permutations));
    return ScoreProcedure(runner, permuted);
  }

  bool Refit() {
    AddStability();
    if (!request_.wants_model) return true;
    runner_.SetStage("the point chosen, on all samples");
    found_.model = runner_.Train(original_, Chosen());
    if (!found_.model) return false;
    const std::vector<KernelReport>& kernels = found_.model->summary().kernels;
    for (std::size_t m = 0; m < found_.stability.size() && m < kernels.size(); ++m)
      found_.stability[m].name = kernels[m].name;
    return true;
  }

  void AddStability() {
    const Validation table = GridValidation();
    const auto chosen = static_cast<std::size_t>(*found_.chosen);
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      const Json& line = runner_.Line(table, f, chosen);
      if (!line.contains("shares")) return;
      const auto shares = line.at("shares").get<std::vector<double>>();
      found_.stability.resize(std::max(found_.stability.size(), shares.size()));
      for (std::size_t m = 0; m < shares.size(); ++m) {
        found_.stability[m].shares.push_back(shares[m]);
        found_.stability[m].active += shares[m] > 0;
      }
    }
    for (std::size_t m = 0; m < found_.stability.size(); ++m) {
      KernelStability& kernel = found_.stability[m];
      kernel.name = fmt::format("kernel {}", m + 1);
      const ScoredPoint mean = MeanOf(kernel.shares);
      kernel.mean = mean.score;
      kernel.deviation = mean.error.value_or(0) * std::sqrt(static_cast<double>(kernel.shares.size()));
      kernel.active /= static_cast<double>(kernel.shares.size());
    }
  }

  void Write() const {
    if (request_.folder.empty()) return;
    if (found_.model) found_.model->Save((std::filesystem::path(request_.folder) / kModelFile).string());
    WriteFile(request_.folder, kTableFile, found_.ToTable());
    WriteFile(request_.folder, kSummaryFile, found_.ToJson() + "\n");
    std::error_code code;
    std::filesystem::remove(std::filesystem::path(request_.folder) / "paths", code);  // where it is empty
  }

  const Dataset& original_;
  const SelectRequest& request_;
  const Context& context_;
  std::vector<TrainOptions> points_;
  Dataset data_;
  std::vector<Fold> folds_;
  std::unique_ptr<PointStore> store_;
  ValidationRunner runner_;
  Selection found_;
};

}  // namespace

Selection Select(const Dataset& data, const SelectRequest& request, const Context& context) {
  Validate(request.options);
  if (data.labels.empty())
    throw Error(ErrorKind::kData, "the data has no labels, expected those that the points are scored by");
  if (!request.groups.empty() && std::ssize(request.groups) != data.size) {
    throw Error(ErrorKind::kUsage, fmt::format("{} groups for {} samples", request.groups.size(), data.size));
  }
  return Selector(data, request, context).Run();
}

Selection LoadSelection(const std::string& folder) {
  const std::filesystem::path place(folder);
  std::ifstream stream(place / kSummaryFile);
  if (!stream) {
    throw Error(ErrorKind::kData, fmt::format("{}: there is no {}, which a selection that has ended writes",
                                              folder, kSummaryFile));
  }
  std::stringstream text;
  text << stream.rdbuf();
  Selection found = Selection::FromJson(text.str());
  std::error_code code;
  if (std::filesystem::exists(place / kModelFile, code))
    found.model = Model::Load((place / kModelFile).string());
  return found;
}

}  // namespace kweave
