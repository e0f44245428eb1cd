#include "train/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/random.h"
#include "base/stopwatch.h"
#include "data/subset.h"
#include "kweave/error.h"
#include "kweave/train.h"
#include "model/calibration.h"
#include "train/labels.h"

namespace kweave {
namespace {

constexpr Index kFolds = 5;  // four fifths of the samples make nearly the machine of all of them

// The samples that count, their classes and their parts.
struct CalibrationParts {
  std::vector<Index> samples;  // positions in the data
  std::vector<std::int32_t> classes;
  std::vector<double> weights;
  std::vector<Index> part;  // of every sample
  Index count = 0;          // of parts
};

double WeightOf(const TrainOptions& options, Index i) {
  return options.sample_weights.empty() ? 1 : options.sample_weights[static_cast<std::size_t>(i)];
}

// Groups of equal samples, in random order, go to the parts by turns, class after class.
void AssignParts(const Dataset& data, std::uint64_t seed, CalibrationParts& parts) {
  std::vector<double> targets(static_cast<std::size_t>(data.size), -1);
  for (std::size_t k = 0; k < parts.samples.size(); ++k)
    targets[static_cast<std::size_t>(parts.samples[k])] = parts.classes[k];
  const EqualSamples equal = FindEqualSamples(data.views, targets);
  std::vector<std::vector<Index>> groups_of_class;
  std::vector<Index> part_of_group(equal.first.size(), -1);
  std::vector<bool> is_known(equal.first.size(), false);
  for (std::size_t k = 0; k < parts.samples.size(); ++k) {
    const Index group = equal.group[static_cast<std::size_t>(parts.samples[k])];
    if (is_known[static_cast<std::size_t>(group)]) continue;
    is_known[static_cast<std::size_t>(group)] = true;
    const auto own = static_cast<std::size_t>(parts.classes[k]);
    if (own >= groups_of_class.size()) groups_of_class.resize(own + 1);
    groups_of_class[own].push_back(group);
  }
  parts.count = kFolds;
  for (const std::vector<Index>& groups : groups_of_class)
    parts.count = std::min(parts.count, static_cast<Index>(groups.size()));
  Random random(seed);
  Index next = 0;
  for (const std::vector<Index>& groups : groups_of_class) {
    const auto size = static_cast<Index>(groups.size());
    std::vector<Index> order = RandomSubset(size, size, random);
    for (Index k = size - 1; k > 0; --k)
      std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(random.Below(k + 1))]);
    for (const Index k : order)
      part_of_group[static_cast<std::size_t>(groups[static_cast<std::size_t>(k)])] =
          next++ % std::max<Index>(1, parts.count);
  }
  for (const Index i : parts.samples)
    parts.part.push_back(part_of_group[static_cast<std::size_t>(equal.group[static_cast<std::size_t>(i)])]);
}

CalibrationParts MakeParts(const Dataset& data, const TrainOptions& options, std::uint64_t seed) {
  CalibrationParts parts;
  for (Index i = 0; i < data.size; ++i) {
    if (WeightOf(options, i) > 0) parts.samples.push_back(i);
  }
  const ClassLabels labels = EncodeClasses(data.labels, parts.samples);
  parts.classes = labels.of_sample;
  const std::vector<double> class_weights = PerClass(options.class_weights, labels, 1, "class_weights");
  for (std::size_t k = 0; k < parts.samples.size(); ++k) {
    parts.weights.push_back(WeightOf(options, parts.samples[k]) *
                            class_weights[static_cast<std::size_t>(parts.classes[k])]);
  }
  AssignParts(data, seed, parts);
  return parts;
}

// What FitCalibration takes of the samples of `data`.
std::vector<double> ValuesOf(const Model& model, const Dataset& data, const Context& context) {
  return CalibratesMachines(model.content()) ? model.PredictByMachine(data, context)
                                             : model.Predict(data, context).decision;
}

// The context of a part: its notes were said of the whole, and it has its share of the time that is left.
Context ContextOfPart(const Context& context, Index part, Index parts, double seconds) {
  Context own = context;
  own.log = nullptr;
  if (context.time_limit_seconds > 0)
    own.time_limit_seconds =
        std::max((context.time_limit_seconds - seconds) / static_cast<double>(parts - part), 1e-3);
  if (context.progress) {
    own.progress = [report = context.progress, part, parts](Progress progress) {
      const std::string stage = fmt::format("calibration fold {} of {}", part + 1, parts);
      progress.stage_gap = progress.stage.empty() ? progress.relative_gap : progress.stage_gap;
      progress.stage = stage;
      report(progress);
    };
  }
  return own;
}

bool HasOwnProbabilities(const ModelContent& content) {
  return content.loss == "logistic" &&
         (content.outputs() == 1 || content.multiclass == Multiclass::kOneAgainstRest);
}

Dataset WithFiles(const Dataset& data, const TrainOptions& options) {
  Dataset whole = data;
  for (const auto& [option, path] : FilesOfOptions(data, options)) {
    const bool is_held = std::ranges::find(whole.matrices, path, &GramMatrix::name) != whole.matrices.end();
    if (option == "kernels" && !is_held) whole.matrices.push_back(ReadGramMatrix(path, data.size));
  }
  return whole;
}

}  // namespace

Model Calibrate(const Dataset& given, const TrainOptions& options, const Context& context,
                const Model& model) {
  const ModelContent& content = model.content();
  if (HasOwnProbabilities(content)) return model;
  if (!content.label_separator.empty() || !content.pairs.kernels.empty()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("`probabilities` are calibrated where samples have one label, and kernels are on samples "
                    "alone; `loss` logistic has its own{}",
                    content.label_separator.empty() ? " with `multiclass` ovr" : ""),
        {"probabilities", "true", "false"});
  }
  const Stopwatch watch;
  const Dataset data = WithFiles(given, options);
  const CalibrationParts parts = MakeParts(data, options, context.seed);
  TrainOptions own = options;
  own.probabilities = false;
  own.keep_samples.clear();
  if (content.multiclass) own.multiclass = *content.multiclass;
  const auto width =
      static_cast<std::size_t>(CalibratesMachines(content) ? model.machines() : model.outputs());
  CalibrationSamples samples{std::vector<double>(parts.samples.size() * width), {}, parts.weights};
  for (const std::int32_t u : parts.classes) samples.classes.push_back(u);
  if (parts.count < 2) {
    samples.values = ValuesOf(model, SelectSamples(data, parts.samples, parts.samples), context);
  }
  for (Index part = 0; part < parts.count && parts.count >= 2; ++part) {
    if (context.stop_requested && context.stop_requested()) {
      if (context.log)
        context.log(LogLevel::kWarning, "stopped before probabilities were calibrated: the model has none");
      return model;
    }
    std::vector<Index> inside, outside, places;
    own.sample_weights.clear();
    for (std::size_t k = 0; k < parts.samples.size(); ++k) {
      if (parts.part[k] == part) {
        outside.push_back(parts.samples[k]);
        places.push_back(static_cast<Index>(k));
      } else {
        inside.push_back(parts.samples[k]);
        own.sample_weights.push_back(WeightOf(options, parts.samples[k]));
      }
    }
    const Context of_part = ContextOfPart(context, part, parts.count, watch.Seconds());
    const Model fold = Train(SelectSamples(data, inside, inside), own, of_part);
    const std::vector<double> values = ValuesOf(fold, SelectSamples(data, outside, inside), of_part);
    for (std::size_t k = 0; k < places.size(); ++k)
      std::copy_n(values.begin() + static_cast<Index>(k * width), width,
                  samples.values.begin() + places[k] * static_cast<Index>(width));
  }
  auto calibrated = std::make_shared<ModelContent>(content);
  calibrated->calibration = FitCalibration(content, samples);
  for (auto& [name, value] : calibrated->summary.options) {
    if (name == "probabilities") value = "true";
  }
  calibrated->summary.seconds.total += watch.Seconds();
  return Model(std::move(calibrated));
}

}  // namespace kweave
