// Validates options, wires the parts and returns the model with its summary; no arithmetic.
//
// Next on the main path: weights/learn.h.
#include "kweave/train.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/memory.h"
#include "base/run_control.h"
#include "base/stopwatch.h"
#include "base/threads.h"
#include "compute/cpu/blas_threads.h"
#include "model/content.h"
#include "regularizer/lp_norm.h"
#include "train/grams.h"
#include "train/memory_plan.h"
#include "train/objective.h"
#include "train/prepared.h"
#include "train/result.h"
#include "train/warm_start.h"
#include "weights/learn.h"

namespace kweave {
namespace {

Evaluation CertificateEvaluation(const TrainOptions& options) {
  if (options.certificate == "table") return Evaluation::kTable;
  if (options.certificate == "direct") return Evaluation::kDirect;
  return Evaluation::kAuto;
}

}  // namespace

Model Train(const Dataset& data, const TrainOptions& options, const Context& context, const Model* start) {
  Validate(options);
  RunControl control(context);
  ThreadPool pool(context.threads);
  const ScopedBlasThreads blas_threads(pool.size());
  control.Report({.target_gap = options.gap, .phase = "kernels"});
  const PreparedSamples samples = PrepareSamples(data, options);
  const PreparedKernels prepared = PrepareKernels(samples, options, context.seed, pool, control);
  const double kernel_seconds = control.Seconds();

  const auto count = static_cast<Index>(samples.indices.size());
  const MemoryPlan plan = PlanMemory(prepared.kernels, prepared.views, count, options, context);
  const Objective objective(samples, options);
  Learned learned;
  std::optional<double> leave_one_out;
  bool uses_table = false;
  std::int64_t kernel_rows = 0;
  if (prepared.kept.empty()) {
    control.Log(LogLevel::kWarning, "no kernel varies over the training samples: the model is a constant");
    learned = LearnBiasOnly(objective.risk());
  } else {
    const bool sums_to_zero = objective.risk().has_bias && objective.risk().bias_slope == 0;
    Grams grams({&prepared.kernels, prepared.views, prepared.normalization},
                {plan.use_float, plan.base_cache_bytes, CertificateEvaluation(options), sums_to_zero}, pool);
    std::optional<WarmStart> warm;
    if (start != nullptr) warm = MakeWarmStart(*start, samples, prepared, options);
    learned =
        LearnWeights(grams.Pair(), {objective.risk(), LpConstraint(options.norm)},
                     {options.method, options.driver, options.gap, options.max_iterations,
                      plan.row_cache_bytes, SolverByName(options.solver), &pool, warm ? &*warm : nullptr},
                     control);
    uses_table = grams.Exact().TableError() > 0;
    kernel_rows = grams.rows_evaluated();
    if (!control.ShouldStop()) {
      leave_one_out = LeaveOneOutScore(grams.Exact(), options, objective.risk(), learned);
    }
  }

  auto content = std::make_shared<ModelContent>(MakeContent(samples, prepared, options, objective, learned));
  Summary& summary = content->summary;
  summary.certificate = uses_table ? "table" : "direct";
  summary.leave_one_out = leave_one_out;
  summary.options = EffectiveOptions(options, context, plan, learned);
  summary.threads = pool.size();
  summary.kernel_rows = kernel_rows;
  summary.seconds.kernels = kernel_seconds;
  summary.seconds.total = control.Seconds();
  summary.peak_memory_bytes = PeakMemoryBytes();
  return Model(std::move(content));
}

}  // namespace kweave
