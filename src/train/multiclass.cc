#include "train/multiclass.h"

#include <fmt/format.h>

#include "kweave/error.h"
#include "regularizer/lp_norm.h"
#include "train/binary_problems.h"
#include "train/objective.h"

namespace kweave {
namespace {

// "auto" lets pairs of classes vote up to here: on the small sets of docs/multiclass.md that predicts better
// than one against the rest. Beyond, the machines become too many.
constexpr Index kMostSamplesForPairs = 5000;
constexpr Index kMostClassesForPairs = 30;

}  // namespace

std::optional<Multiclass> EffectiveMulticlass(const TrainOptions& options, const ClassLabels& labels) {
  if (labels.is_multilabel()) {
    if (options.multiclass == Multiclass::kAuto || options.multiclass == Multiclass::kOneAgainstRest) {
      return Multiclass::kOneAgainstRest;
    }
    const std::string given(ToString(options.multiclass));
    throw Error(ErrorKind::kUsage,
                fmt::format("samples with several labels are learned one against the rest: "
                            "`multiclass` ovr, not {}",
                            given),
                {"multiclass", given, "ovr"});
  }
  if (labels.size() == 2) {
    if (options.multiclass == Multiclass::kJoint) return Multiclass::kJoint;
    if (!options.class_C.empty() || !options.class_norm.empty()) {
      throw Error(ErrorKind::kUsage,
                  "two classes have one machine, so neither has a C or norm of its own; give `C` and `norm`",
                  {options.class_C.empty() ? "class_norm" : "class_C", "given", "none"});
    }
    return std::nullopt;
  }
  if (options.multiclass != Multiclass::kAuto) return options.multiclass;
  const bool needs_one_per_class = options.machine_weights == MachineWeights::kCommon ||
                                   !options.class_C.empty() || !options.class_norm.empty() ||
                                   EffectiveLoss(options).name == "logistic";
  const bool is_small = static_cast<Index>(labels.of_sample.size()) <= kMostSamplesForPairs &&
                        labels.size() <= kMostClassesForPairs;
  return is_small && !needs_one_per_class ? Multiclass::kOneAgainstOne : Multiclass::kOneAgainstRest;
}

Index MachineCount(const TrainOptions& options, const PreparedSamples& samples) {
  if (options.task != Task::kClassify) return 1;
  const std::optional<Multiclass> machines = EffectiveMulticlass(options, samples.labels);
  const Index classes = std::ssize(samples.classes);
  if (!machines || machines == Multiclass::kJoint) return 1;
  return machines == Multiclass::kOneAgainstOne ? classes * (classes - 1) / 2 : classes;
}

Index OutputsOfOneMachine(const TrainOptions& options, const PreparedSamples& samples) {
  if (options.task != Task::kClassify) return 1;
  return EffectiveMulticlass(options, samples.labels) == Multiclass::kJoint ? std::ssize(samples.classes) : 1;
}

LearnedMachines LearnOneAgainstRest(const TrainingRun& run) {
  const ClassLabels& labels = run.samples.labels;
  const std::vector<double> C = PerClass(run.options.class_C, labels, run.options.C, "class_C");
  constexpr double kCommon = 0;  // no norm of its own
  const std::vector<double> norms = PerClass(run.options.class_norm, labels, kCommon, "class_norm");
  const std::vector<double> weights = PerClass(run.options.class_weights, labels, 1, "class_weights");
  std::vector<BinaryProblem> problems;
  for (std::int32_t u = 0; u < labels.size(); ++u) {
    BinaryProblem problem{.output = u, .upper = run.samples.upper};
    problem.regularizer = norms[u] == kCommon ? run.regularizer : LpConstraint(norms[u]);
    problem.own = {.cost_factor = C[u] / run.options.C,
                   .positive_factor = labels.is_multilabel() ? weights[u] : 1,
                   .exponent = norms[u]};
    for (std::size_t i = 0; i < problem.upper.size(); ++i) {
      problem.y.push_back(labels.Has(i, u) ? 1.0 : -1.0);
      problem.upper[i] *= problem.own.cost_factor;
      // A sample with several labels has the weight of a class in that one's machine only.
      if (problem.y[i] > 0) problem.upper[i] *= problem.own.positive_factor;
    }
    problems.push_back(std::move(problem));
  }
  return LearnBinaryProblems(run, problems);
}

LearnedMachines LearnOneAgainstOne(const TrainingRun& run) {
  const ClassLabels& labels = run.samples.labels;
  std::vector<BinaryProblem> problems;
  for (std::int32_t u = 0; u < labels.size(); ++u) {
    for (std::int32_t v = u + 1; v < labels.size(); ++v) {
      BinaryProblem problem{.output = u, .against = v, .regularizer = run.regularizer};
      for (std::size_t i = 0; i < labels.of_sample.size(); ++i) {
        if (labels.of_sample[i] != u && labels.of_sample[i] != v) continue;
        problem.rows.push_back(static_cast<Index>(i));
        problem.y.push_back(labels.of_sample[i] == u ? 1.0 : -1.0);
        problem.upper.push_back(run.samples.upper[i]);
      }
      problems.push_back(std::move(problem));
    }
  }
  return LearnBinaryProblems(run, problems);
}

LearnedMachines LearnMulticlass(Multiclass multiclass, const TrainingRun& run) {
  // Without kernels all that is left is a constant per class.
  const bool is_joint = multiclass == Multiclass::kJoint && run.grams != nullptr;
  LearnedMachines learned = is_joint                                   ? LearnJoint(run)
                            : multiclass == Multiclass::kOneAgainstOne ? LearnOneAgainstOne(run)
                                                                       : LearnOneAgainstRest(run);
  learned.multiclass = multiclass;
  return learned;
}

}  // namespace kweave
