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
#include "gram/make_gram.h"
#include "model/content.h"
#include "train/memory_plan.h"
#include "train/objective.h"
#include "train/prepared.h"
#include "train/result.h"
#include "weights/learn.h"

namespace kweave {
namespace {

Evaluation CertificateEvaluation(const TrainOptions& options) {
  if (options.certificate == "table") return Evaluation::kTable;
  if (options.certificate == "direct") return Evaluation::kDirect;
  return Evaluation::kAuto;
}

/// The kernels at both precisions. The exact ones are made when first asked for, and are the working ones
/// when those are as good.
class Grams {
 public:
  Grams(const PreparedKernels& prepared, const MemoryPlan& plan, Evaluation certificate, ThreadPool& pool)
      : prepared_(prepared), plan_(plan), certificate_(certificate), pool_(pool) {
    working_ = Make({plan.use_float, Evaluation::kAuto, plan.base_cache_bytes, plan.use_float});
  }

  GramPair Pair() {
    return {working_.get(), plan_.use_float, [this]() -> Gram& { return Exact(); }};
  }

  Gram& Exact() {
    if (!plan_.use_float && certificate_ == Evaluation::kAuto) return *working_;
    if (!exact_) exact_ = Make({false, certificate_, 0, false});
    return *exact_;
  }

 private:
  std::unique_ptr<Gram> Make(const GramOptions& options) {
    return MakeGram(prepared_.kernels, prepared_.views, prepared_.normalization, options, pool_);
  }

  const PreparedKernels& prepared_;
  const MemoryPlan& plan_;
  const Evaluation certificate_;
  ThreadPool& pool_;
  std::unique_ptr<Gram> working_;
  std::unique_ptr<Gram> exact_;
};

}  // namespace

Model Train(const Dataset& data, const TrainOptions& options, const Context& context) {
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
  if (prepared.kept.empty()) {
    learned = LearnBiasOnly(objective.risk());
  } else {
    Grams grams(prepared, plan, CertificateEvaluation(options), pool);
    learned = LearnWeights(grams.Pair(), {objective.risk(), options.norm},
                           {options.method, options.gap, options.max_iterations, plan.row_cache_bytes,
                            SolverByName(options.solver), &pool},
                           control);
    uses_table = grams.Exact().TableError() > 0;
    leave_one_out = LeaveOneOutScore(grams.Exact(), options, objective.risk(), learned);
  }

  auto content = std::make_shared<ModelContent>(MakeContent(samples, prepared, options, objective, learned));
  Summary& summary = content->summary;
  summary.certificate = uses_table ? "table" : "direct";
  summary.leave_one_out = leave_one_out;
  summary.options = EffectiveOptions(options, context, plan, learned);
  summary.threads = pool.size();
  summary.seconds.kernels = kernel_seconds;
  summary.seconds.total = control.Seconds();
  summary.peak_memory_bytes = PeakMemoryBytes();
  return Model(std::move(content));
}

}  // namespace kweave
