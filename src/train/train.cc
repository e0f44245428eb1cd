// Validates options, wires the parts and returns the model with its summary; no arithmetic.
//
// Next on the main path: weights/learn.h.
#include "kweave/train.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/run_control.h"
#include "base/stopwatch.h"
#include "base/threads.h"
#include "compute/cpu/blas_threads.h"
#include "kweave/error.h"
#include "model/content.h"
#include "regularizer/lp_norm.h"
#include "train/effective_options.h"
#include "train/grams.h"
#include "train/memory_plan.h"
#include "train/multiclass.h"
#include "train/objective.h"
#include "train/prepared.h"
#include "train/product.h"
#include "train/regularizer_choice.h"
#include "train/result.h"
#include "train/warm_start.h"
#include "weights/learn.h"

namespace kweave {
namespace {

// Little beside a gap that is not small, and a quarter of the terms. The certificate counts it for every pair of dual variables: more
// of them, or larger ones, leave less to each.
double LearnedError(const TrainOptions& options, Index samples) {
  constexpr double kLeastGap = 1e-5, kMostGap = 1e-3, kShare = 1e-6, kMostSum = 3e4;
  if (options.gap < kLeastGap) return 0;
  const double sum = std::max(options.C * static_cast<double>(samples), kMostSum);
  return kShare * std::min(options.gap, kMostGap) * kMostSum / sum;
}

// One machine: two classes, a regression or one class.
LearnedMachines LearnOneMachine(const PreparedSamples& samples, const PreparedKernels& prepared,
                                const TrainOptions& options, const MemoryPlan& plan, Grams* grams,
                                ThreadPool& pool, RunControl& control, std::uint64_t seed,
                                const Model* start) {
  const Objective objective(samples.y, samples.upper, options);
  if (grams == nullptr) {
    Learned learned = LearnBiasOnly(objective.risk());
    const double bias = objective.DecisionBias(learned.certificate.bias);
    return OneMachine(std::move(learned), bias);
  }
  std::optional<WarmStart> warm;
  if (start != nullptr) warm = MakeWarmStart(*start, samples, prepared, options);
  Gram* exact = NeedsAlignments(options) ? &grams->Exact() : nullptr;
  RegularizerPointer regularizer = MakeRegularizer(options, prepared, samples.views, seed, exact);
  if (NeedsKernelMatrix(options)) regularizer = OnKernelMatrix(options, MatrixOf(grams->Precise()));
  Learned learned =
      LearnWeights(grams->Pair(), {objective.risk(), std::move(regularizer)},
                   {options.method, options.driver, options.gap, options.max_iterations, plan.row_cache_bytes,
                    SolverByName(options.solver), &pool, warm ? &*warm : nullptr},
                   control);
  std::optional<double> leave_one_out;
  const std::int64_t kernel_rows = grams->rows_evaluated();
  if (!control.ShouldStop())
    leave_one_out = LeaveOneOutScore(grams->Exact(), options, objective.risk(), learned);
  const double bias = objective.DecisionBias(learned.certificate.bias);
  LearnedMachines one = OneMachine(std::move(learned), bias);
  one.groups = ReportGroups(options, prepared, samples.views, seed, one.total.theta);
  one.uses_table = grams->Exact().TableError() > 0;
  one.kernel_rows = kernel_rows;
  one.base_values = grams->base_values();
  one.leave_one_out = leave_one_out;
  return one;
}

// What has no meaning for weights of several machines, or of kernels on pairs of sample and class.
void CheckManyClasses(const TrainOptions& options, const PreparedKernels& prepared) {
  if (NeedsKernelMatrix(options)) {
    throw Error(ErrorKind::kUsage, "regularizer logdet is for one machine that tells two classes apart");
  }
  if (!options.class_norm.empty()) {
    throw Error(
        ErrorKind::kUsage,
        "single classes have a norm of their own only where all others have a norm, too, and no other "
        "regulariser");
  }
  if (!options.class_kernels.empty() || !prepared.pairs.empty()) {
    throw Error(
        ErrorKind::kUsage,
        "kernels on classes, or on pairs of sample and class, are learned with a norm on the weights and "
        "no other regulariser");
  }
}

// All machines of several classes, or one for all of them.
LearnedMachines LearnClasses(const std::string& multiclass, MulticlassRun run, std::uint64_t seed) {
  run.regularizer = LpConstraint(run.options.norm);
  if (!IsPlainNorm(run.options)) {
    CheckManyClasses(run.options, run.prepared);
    Gram* exact = run.grams != nullptr && NeedsAlignments(run.options) ? &run.grams->Exact() : nullptr;
    if (run.grams != nullptr) {
      run.regularizer = MakeRegularizer(run.options, run.prepared, run.samples.views, seed, exact);
    }
  }
  LearnedMachines learned = LearnMulticlass(multiclass, run);
  const bool has_one_weighting = multiclass == "joint" || run.options.machine_weights == "common";
  if (has_one_weighting && run.grams != nullptr) {
    learned.groups = ReportGroups(run.options, run.prepared, run.samples.views, seed, learned.total.theta);
  }
  return learned;
}

// Factors of a machine with a bias sum to zero, whichever of several it is.
bool FactorsSumToZero(const TrainOptions& options) {
  return options.bias && EffectiveTask(options) != Task::kOneClass;
}

}  // namespace

Model Train(const Dataset& data, const TrainOptions& options, const Context& context, const Model* start) {
  Validate(options);
  if (options.combine == "product") return TrainProduct(data, options, context);
  RunControl control(context);
  ThreadPool pool(context.threads);
  const ScopedBlasThreads blas_threads(pool.size());
  control.Report({.target_gap = options.gap, .phase = "kernels"});
  const PreparedSamples samples = PrepareSamples(data, options);
  const bool has_classes = EffectiveTask(options) == Task::kClassify;
  if (const std::string note = has_classes ? NoteOnSmallClasses(samples.labels) : ""; !note.empty()) {
    control.Log(LogLevel::kNote, note);
  }
  const std::string multiclass = has_classes ? EffectiveMulticlass(options, samples.labels) : "";
  const PreparedKernels prepared = PrepareKernels(samples, options, context.seed, pool, control);
  const double kernel_seconds = control.Seconds();

  const auto count = static_cast<Index>(samples.indices.size());
  const MemoryPlan plan =
      PlanMemory(prepared.kernels, prepared.views, count, options, context,
                 HasSeveralMachines(options, samples), OutputsOfOneMachine(options, samples));
  const ScopedPoll poll(pool, [&control] { control.ShouldStop(); });  // which throws if the run is abandoned
  std::unique_ptr<Grams> grams;
  if (prepared.kept.empty() && prepared.pairs.empty()) {
    control.Log(LogLevel::kWarning, "no kernel varies over the training samples: the model is a constant");
  } else {
    grams = std::make_unique<Grams>(
        GramSource{&prepared.kernels, prepared.views, prepared.normalization},
        GramSettings{plan.use_float, plan.base_cache_bytes, CertificateEvaluation(options),
                     FactorsSumToZero(options), LearnedError(options, count)},
        pool);
  }
  const LearnedMachines learned =
      multiclass.empty()
          ? LearnOneMachine(samples, prepared, options, plan, grams.get(), pool, control, context.seed, start)
          : LearnClasses(multiclass,
                         {samples, prepared, options, plan, grams.get(), pool, control, start, nullptr},
                         context.seed);

  return FinishModel(MakeContent(samples, prepared, options, learned), options, context, plan, learned,
                     pool.size(), kernel_seconds, control);
}

}  // namespace kweave
