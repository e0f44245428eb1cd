// Validates options, wires the parts and returns the model with its summary; no arithmetic.
//
// Next on the main path: weights/run/learn.h.
#include "kweave/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/random.h"
#include "base/run_control.h"
#include "base/stopwatch.h"
#include "base/threads.h"
#include "compute/cpu/blas_threads.h"
#include "kweave/error.h"
#include "model/content.h"
#include "model/missing_views.h"
#include "regularizer/lp_norm.h"
#include "train/calibrate.h"
#include "train/certificate_cost.h"
#include "train/effective_options.h"
#include "train/forecast.h"
#include "train/grams.h"
#include "train/huge_values.h"
#include "train/memory_plan.h"
#include "train/multiclass.h"
#include "train/objective.h"
#include "train/prepared.h"
#include "train/product.h"
#include "train/regularizer_choice.h"
#include "train/run_device.h"
#include "train/training_run.h"
#include "train/training_session.h"
#include "train/warm_start.h"
#include "weights/run/learn.h"
#include "weights/strategies/known_weights.h"

namespace kweave {
namespace {

// What the slope of losses is for outputs of unit size: the errors of targets in other units have other ones.
double OutputUnit(const PreparedSamples& samples, const TrainOptions& options) {
  if (options.task != Task::kRegress || samples.y.empty()) return 1;
  const Objective objective(samples.y, samples.upper, options);
  const bool is_bounded = std::isfinite(objective.risk().Feasible(0).upper);
  return is_bounded && objective.risk().OutputUnit() > 0 ? objective.risk().OutputUnit() : 1;
}

// Little beside a gap that is not small, and a quarter of the terms. The certificate counts it for every pair
// of dual variables: more of them, or larger ones, leave less to each.
double LearnedError(const TrainOptions& options, const PreparedSamples& samples) {
  // With sum |beta| = C n and an objective as large, error (C n)^2 is kShare kMostSum = 3 % of the gap. Gaps
  // below the least one want all digits; above the most the terms are as few as they get.
  constexpr double kLeastGap = 1e-5, kMostGap = 1e-3, kShare = 1e-6, kMostSum = 3e4;
  if (options.gap < kLeastGap) return 0;
  const double slopes = options.C / OutputUnit(samples, options);
  const double sum = std::max(slopes * static_cast<double>(samples.indices.size()), kMostSum);
  return kShare * std::min(options.gap, kMostGap) * kMostSum / sum;
}

// What a certificate would have found on its way, as the kernels of the solver see it.
double BiasOf(Gram& working, const Risk& risk, const Learned& learned) {
  const VectorAnswer answer =
      working.Answer({.a = learned.beta, .theta = learned.theta, .wants_quadratics = false});
  return risk.BestBias(answer.outputs);
}

// One machine: two classes, a regression or one class.
LearnedMachines LearnOneMachine(const TrainingRun& run) {
  const Objective objective(run.samples.y, run.samples.upper, run.options);
  if (run.grams == nullptr) {
    Learned learned = LearnBiasOnly(objective.risk());
    const double bias = objective.DecisionBias(learned.certificate.bias);
    return OneMachine(std::move(learned), bias);
  }
  std::optional<WarmStart> warm;
  if (run.start != nullptr) warm = MakeWarmStart(*run.start, run.samples, run.prepared, run.options);
  const ChosenRegularizer chosen = MakeRegularizer(
      run.options, run.prepared, run.samples.views, run.context.seed,
      {[&]() -> Gram& { return run.grams->Exact(); }, [&] { return MatrixOf(run.grams->Precise()); }});
  LearningProblem problem{objective.risk(), chosen.regularizer};
  // A determinant is a size by itself.
  if (problem.risk.bias_slope != 0 && !NeedsKernelMatrix(run.options))
    problem.risk.least_size = LeastSize(*run.grams->Pair().working, *chosen.regularizer);
  LearnOptions learning = run.Learning(warm ? &*warm : nullptr);
  learning.certifies = run.certifies;
  Learned learned = LearnUntilKnown(
      *chosen.regularizer, learning, run.options.weights_tolerance,
      [&](const LearnOptions& options) {
        return LearnWeights(run.grams->Pair(), problem, options, run.control);
      },
      run.control);
  if (!run.certifies) learned.certificate.bias = BiasOf(*run.grams->Pair().working, problem.risk, learned);
  const double bias = objective.DecisionBias(learned.certificate.bias);
  LearnedMachines one = run.Account(OneMachine(learned, bias));
  one.sources = SourcesOf(run.prepared);
  one.problem.regularizer = chosen.described;
  if (!run.certifies) return one;
  if (!run.control.ShouldStop()) {
    one.leave_one_out = LeaveOneOutScore(run.grams->Exact(), run.options, objective.risk(), learned);
  }
  one.importance = FindImportance(*chosen.regularizer, one.total.certificate, one.total.theta, one.sources,
                                  run.prepared.kept.size());
  one.groups = ReportGroups(run.options, run.prepared, chosen.group_names, one.total.theta);
  return one;
}

// What has no meaning for weights of several machines, or of kernels on pairs of sample and class.
void CheckManyClasses(const TrainOptions& options, const PreparedKernels& prepared) {
  if (NeedsKernelMatrix(options)) {
    throw Error(ErrorKind::kUsage, "`regularizer` logdet is for one machine that tells two classes apart",
                {"regularizer", options.regularizer, "another"});
  }
  if (!options.class_norm.empty()) {
    throw Error(
        ErrorKind::kUsage,
        "single classes have a norm of their own only where all others have a norm, too, and no other "
        "regulariser",
        {"class_norm", "given", "none"});
  }
  if (!options.class_kernels.empty() || !prepared.pairs.empty()) {
    throw Error(
        ErrorKind::kUsage,
        "kernels on classes, or on pairs of sample and class, are learned with a norm on the weights and "
        "no other regulariser");
  }
}

// All machines of several classes, or one for all of them.
LearnedMachines LearnClasses(Multiclass multiclass, TrainingRun run) {
  if (!IsPlainNorm(run.options)) CheckManyClasses(run.options, run.prepared);
  ChosenRegularizer chosen;
  chosen.described.exponent = run.options.norm;
  if (run.grams != nullptr) {  // else there are no weights
    chosen = MakeRegularizer(run.options, run.prepared, run.samples.views, run.context.seed,
                             {[&]() -> Gram& { return run.grams->Exact(); }, nullptr});
  }
  run.regularizer = chosen.regularizer;
  LearnedMachines learned = LearnMulticlass(multiclass, run);
  learned.problem.regularizer = chosen.described;
  const bool has_one_weighting =
      multiclass == Multiclass::kJoint || run.options.machine_weights == MachineWeights::kCommon;
  if (has_one_weighting) {
    learned.groups = ReportGroups(run.options, run.prepared, chosen.group_names, learned.total.theta);
  }
  return learned;
}

// Solvers by pairs and blocks are for losses with corners.
std::string NoteOnSolver(const TrainOptions& options) {
  const bool is_on_rows = options.solver == SolverKind::kSmo || options.solver == SolverKind::kBlock;
  const std::string_view loss = EffectiveLoss(options).name;
  const bool is_smooth = EffectiveLoss(options).make({})->smooth() != nullptr;
  if (!is_on_rows || !is_smooth) return "";
  return fmt::format("`loss` {} is smooth and solved by Newton steps, not by `solver` {}", loss,
                     ToString(options.solver));
}

// What kernels add on average, of so many training samples that finding it costs little.
void FindMeanParts(const PreparedSamples& samples, const Context& context, ModelContent& content) {
  // A mean of 2,000 is known to some 2 % of the spread; values of all kernels and machines take a fraction of
  // a second.
  constexpr Index kMostSamples = 2000, kLeastSamples = 50, kMostValues = 20'000'000;
  const Index values =
      std::max<Index>(1, content.kernels.size() * static_cast<Index>(content.machines.size()));
  const auto count = static_cast<Index>(samples.indices.size());
  const Index wanted = std::min(count, std::clamp(kMostValues / values, kLeastSamples, kMostSamples));
  Random random(context.seed);
  const std::vector<Index> rows = RandomSubset(count, wanted, random);
  std::vector<View> views;
  for (const View& view : samples.views) views.push_back(SelectSamples(view, rows));
  FindMeanParts(views, wanted, context, content);
}

// Calibration has what the training of the model leaves of the time.
Model TrainWithProbabilities(const Dataset& data, const TrainOptions& options, const Context& context,
                             const Model* start) {
  const Stopwatch watch;
  TrainOptions without = options;
  without.probabilities = false;
  const Model model = Train(data, without, context, start);
  Context left = context;
  if (left.time_limit_seconds > 0)
    left.time_limit_seconds = std::max(left.time_limit_seconds - watch.Seconds(), 1e-3);
  return Calibrate(data, options, left, model);
}

// Factors of a machine with a bias sum to zero, whichever of several it is.
bool FactorsSumToZero(const TrainOptions& options) { return options.bias && options.task != Task::kOneClass; }

// What was decided before anything is learned, and why.
void LogDecisions(const MemoryPlan& plan, const TrainOptions& options, const Context& context,
                  std::optional<Multiclass> multiclass, const RunControl& control) {
  control.Log(LogLevel::kDetail, fmt::format("kernel values in {} precision, which a gap of {:.2g} {}",
                                             plan.use_float ? "single" : "double", options.gap,
                                             plan.use_float ? "can be reached with" : "needs"));
  control.Log(
      LogLevel::kDetail,
      fmt::format("{} for base quantities and {} for rows of the learned kernel, what {} leaves beside "
                  "the {} that training works with, or what they can fill",
                  BytesText(plan.base_cache_bytes), BytesText(plan.row_cache_bytes),
                  context.memory_bytes > 0 ? "`memory`" : "half of the free memory",
                  BytesText(plan.working_bytes)));
  if (multiclass) {
    control.Log(LogLevel::kDetail,
                fmt::format("classes are told apart by `multiclass` {}, {}", ToString(*multiclass),
                            options.multiclass == Multiclass::kAuto
                                ? "as their number, that of the samples and the loss suggest"
                                : "as asked for"));
  }
}

}  // namespace

// Everything of a run that its kernels and samples decide. The numbers below do not.
struct TrainingSession::Kernels {
  TrainOptions options;
  PreparedKernels prepared;
  std::unique_ptr<RunDevice> device;
  GramSettings settings;
  std::unique_ptr<Grams> grams;  ///< null where no kernel varies
};

bool HaveSameKernels(const TrainOptions& a, const TrainOptions& b) {
  constexpr std::string_view kOfObjective[] = {
      "C",     "epsilon",    "nu",         "sharpness", "norm",          "penalty",
      "ridge", "block_norm", "inner_norm", "elastic",   "max_iterations"};
  return a.keep_samples == b.keep_samples &&
         std::ranges::all_of(TrainOptionRecords(), [&](const OptionRecord<TrainOptions>& record) {
           return std::ranges::find(kOfObjective, record.name) != std::end(kOfObjective) ||
                  record.get(a) == record.get(b);
         });
}

namespace {

// Whether kernels made for `made` do what is wanted: more memory and smaller errors do no harm.
bool Serves(const GramSettings& made, const GramSettings& wanted) {
  return made.use_float == wanted.use_float && made.base_cache_bytes >= wanted.base_cache_bytes &&
         made.learned_error <= wanted.learned_error;
}

}  // namespace

TrainingSession::TrainingSession(const Dataset& data, const Context& context)
    : data_(data), context_(context), pool_(context.threads) {}

TrainingSession::~TrainingSession() = default;

const TrainingSession::Kernels& TrainingSession::KernelsFor(const PreparedSamples& samples,
                                                            const TrainOptions& options,
                                                            RunControl& control) {
  if (kernels_ && HaveSameKernels(kernels_->options, options)) return *kernels_;
  kernels_.reset();  // its memory serves the next ones
  kernels_ = std::make_unique<Kernels>();
  kernels_->options = options;
  kernels_->device = std::make_unique<RunDevice>(data_, options, context_);
  kernels_->prepared = PrepareKernels(samples, options, context_.seed, pool_, control);
  return *kernels_;
}

Model TrainingSession::Train(const CheckedOptions& checked, const Model* start, bool certifies) {
  const TrainOptions& options = *checked;
  if (options.combine == Combine::kProduct) {
    RunDevice(data_, options, context_);  // says that it does not serve
    return TrainProduct(data_, options, context_);
  }
  try {
    return TrainOnKernels(options, start, certifies);
  } catch (const DeviceError& error) {
    kernels_->device->Abandon(error);
    kernels_->grams.reset();
  }
  return TrainOnKernels(options, start, certifies);
}

Model TrainingSession::TrainOnKernels(const TrainOptions& options, const Model* start, bool certifies) {
  RunControl control(context_);
  const ScopedBlasThreads blas_threads(pool_.size());
  control.Report({.target_gap = options.gap, .phase = "kernels"});
  const PreparedSamples samples = PrepareSamples(data_, options);
  const bool has_classes = options.task == Task::kClassify;
  if (const std::string note = has_classes ? NoteOnSmallClasses(samples.labels) : ""; !note.empty()) {
    control.Log(LogLevel::kNote, note);
  }
  if (const std::string note = NoteOnHugeValues(samples.views); !note.empty())
    control.Log(LogLevel::kNote, note);
  const std::optional<Multiclass> multiclass =
      has_classes ? EffectiveMulticlass(options, samples.labels) : std::nullopt;
  if (const std::string note = NoteOnSolver(options); !note.empty()) control.Log(LogLevel::kNote, note);
  RequireMemory(samples, options, context_);
  const PreparedKernels& prepared = KernelsFor(samples, options, control).prepared;
  const double kernel_seconds = control.Seconds();

  const auto count = static_cast<Index>(samples.indices.size());
  const MemoryPlan plan = PlanMemory(prepared.kernels, prepared.views, count, options, context_,
                                     MachineCount(options, samples), OutputsOfOneMachine(options, samples));
  LogDecisions(plan, options, context_, multiclass, control);
  const ScopedPoll poll(pool_, [&control] { control.ShouldStop(); });  // which throws if the run is abandoned
  const GramSettings settings{plan.use_float,
                              plan.base_cache_bytes,
                              options.certificate,
                              FactorsSumToZero(options),
                              LearnedError(options, samples),
                              kernels_->device->use()};
  if (prepared.kept.empty() && prepared.pairs.empty()) {
    control.Log(LogLevel::kWarning, "no kernel varies over the training samples: the model is a constant");
  } else if (!kernels_->grams || !Serves(kernels_->settings, settings)) {
    kernels_->grams.reset();
    kernels_->settings = settings;
    kernels_->grams = std::make_unique<Grams>(
        GramSource{&prepared.kernels, prepared.views, prepared.normalization}, settings, pool_);
  }
  Grams* const grams = kernels_->grams.get();
  if (grams != nullptr && control.has_time_limit()) {
    MeasureCertificateCost(grams->Exact(), multiclass ? context_.time_limit_seconds / 2 : 0, control);
  }
  const TrainingRun run{.samples = samples,
                        .prepared = prepared,
                        .options = options,
                        .context = context_,
                        .plan = plan,
                        .pool = pool_,
                        .control = control,
                        .grams = grams,
                        .start = start,
                        .certifies = certifies};
  const LearnedMachines learned = multiclass ? LearnClasses(*multiclass, run) : LearnOneMachine(run);
  // A run that missed its gap says so itself.
  const std::string open =
      certifies && learned.total.status == Status::kConverged
          ? NoteOnOpenWeights(options, prepared, learned.importance.kernels, learned.total.theta)
          : "";
  if (!open.empty()) control.Log(LogLevel::kNote, open);
  ModelContent content = MakeContent(samples, prepared, options, learned);
  if (!control.ShouldStop()) FindMeanParts(samples, context_, content);
  return run.Finish(std::move(content), learned, kernel_seconds);
}

Model Train(const Dataset& data, const CheckedOptions& options, const Context& context, const Model* start) {
  if (options->probabilities) return TrainWithProbabilities(data, *options, context, start);
  return TrainingSession(data, context).Train(options, start);
}

}  // namespace kweave
