#include "train/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/memory.h"
#include "base/threads.h"
#include "data/sequences.h"
#include "gram/gram_plan.h"
#include "train/effective_options.h"
#include "train/objective.h"

namespace kweave {
namespace {

// Below this target float32 kernel values would limit the gap that can be reached.
constexpr double kFloatGap = 1e-4;

// Measured with a9a: beyond a few thousand rows a larger cache of the solver saves no time.
constexpr std::size_t kUsefulRows = 4096;
constexpr std::size_t kLeastRowBytes = std::size_t{64} << 20;
constexpr std::size_t kUsefulRowBytes = std::size_t{512} << 20;
constexpr std::size_t kLeastRows = 64;

// a - b, or 0.
std::size_t Difference(std::size_t a, std::size_t b) { return a > b ? a - b : 0; }

std::size_t FeatureBytes(const DenseRows<double>& dense) { return dense.rows * dense.cols * sizeof(double); }
std::size_t FeatureBytes(const DenseRows<float>& dense) { return dense.rows * dense.cols * sizeof(float); }
std::size_t FeatureBytes(const SparseRows& sparse) {
  const Index entries = sparse.offsets[sparse.rows] - sparse.offsets[0];
  return entries * (sizeof(double) + sizeof(std::int32_t)) + (sparse.rows + 1) * sizeof(Index);
}
std::size_t FeatureBytes(const SequenceRows& sequences) { return SequenceBytes(sequences); }

// The program with its libraries; expansions of about 40 functions in float64 and the vectors of the solvers;
// and what a second-order model of theta or a bundle of betas takes.
constexpr std::size_t kProgramBytes = std::size_t{24} << 20;
constexpr std::size_t kBytesPerSample = 2000;
// Specification, name, weights of methods and model: measured with a million widths.
constexpr std::size_t kBytesPerKernel = 1500;
// Report, history, problem and support vectors of a machine, and its vectors over the kernels (theta and
// quadratics of what was learned, of the report and of the model): measured with 19,900 machines.
constexpr std::size_t kBytesPerMachine = 5500;
constexpr std::size_t kVectorsPerMachine = 6;
// Of a machine with several: betas, outputs and gradients of the solver, the driver and the certificate.
constexpr std::size_t kBytesPerOutput = 12 * sizeof(double);
constexpr std::size_t kWeightMethodBytes = std::size_t{56} << 20;

// All bases first, then those of the certificate, then rows for every thread's machine.
void ShareAmongMachines(Index samples, Index certificate_bases, std::size_t caches, std::size_t value_bytes,
                        const Context& context, MemoryPlan& plan) {
  const std::size_t pairs = samples * samples;
  const std::size_t threads = context.threads > 0 ? context.threads : AvailableThreads();
  const std::size_t least_rows = threads * std::min(pairs * value_bytes, kLeastRowBytes);
  const std::size_t all_bases = plan.bases * pairs * value_bytes;
  if (all_bases + least_rows > caches) return;
  plan.keeps_bases = true;
  plan.base_cache_bytes = all_bases;
  std::size_t left = caches - all_bases;
  const std::size_t exact_bases = plan.use_float ? certificate_bases * pairs * sizeof(double) : 0;
  if (exact_bases + least_rows <= left) {
    plan.keeps_exact_bases = plan.use_float;
    left -= exact_bases;
  }
  plan.row_cache_bytes = std::min(left, threads * pairs * value_bytes);
}

}  // namespace

MemoryPlan PlanMemory(const KernelSet& kernels, std::span<const View> views, Index samples,
                      const TrainOptions& options, const Context& context, Index machines, Index outputs) {
  MemoryPlan plan;
  plan.use_float = options.gap >= kFloatGap;
  for (const View& view : views) {
    plan.data_bytes += std::visit([](const auto& f) { return FeatureBytes(f); }, view.features);
  }
  const Normalization normalization =
      UnfittedNormalization(kernels, views, ParseNormalizers(EffectiveNormalize(options)));
  const auto plan_gram = [&](bool use_float, FamilyEvaluation evaluation) {
    return PlanGram(kernels, {views, views, true, {}}, normalization, evaluation, use_float);
  };
  const GramPlan gram = plan_gram(plan.use_float, FamilyEvaluation::kAuto);
  plan.bases = gram.MatrixCount();
  const GramPlan exact = plan_gram(/*use_float=*/false, options.certificate);
  if (plan.use_float) plan.certificate_bytes = exact.Bytes();

  const std::size_t total = context.memory_bytes > 0 ? context.memory_bytes : AvailableMemoryBytes() / 2;
  const std::size_t value_bytes = plan.use_float ? sizeof(float) : sizeof(double);
  const std::size_t matrix_bytes = samples * samples * value_bytes;
  const bool is_fixed = kernels.size() == 1 || std::isinf(options.norm);
  const std::size_t output_bytes = outputs > 1 ? samples * outputs * kBytesPerOutput : 0;
  const std::size_t machine_bytes =
      machines > 1 ? machines * (kBytesPerMachine + kVectorsPerMachine * kernels.size() * sizeof(double)) : 0;
  plan.working_bytes = kProgramBytes + samples * kBytesPerSample + kernels.size() * kBytesPerKernel +
                       output_bytes + machine_bytes + gram.Bytes() +
                       (is_fixed ? 0 : std::min(kWeightMethodBytes, matrix_bytes));
  const std::size_t caches = Difference(total, plan.working_bytes);
  // Base values serve again only when theta moves. They are gone, like the rows, when the certificate packs
  // samples in float64.
  plan.base_cache_bytes = is_fixed ? 0 : std::min(caches / 3 * 2, gram.CachedCount() * matrix_bytes);
  // More rows than the solver comes back to would cost more to touch for the first time than to compute
  // again.
  const std::size_t useful_rows = kUsefulRows * matrix_bytes / std::max<std::size_t>(samples, 1);
  plan.row_cache_bytes =
      std::min({caches - plan.base_cache_bytes, matrix_bytes, std::max(kUsefulRowBytes, useful_rows)});
  // Newton steps keep all of the learned kernel and a factor of it, in single precision.
  if (EffectiveLoss(options).make({})->smooth()) {
    plan.row_cache_bytes = std::min(caches - plan.base_cache_bytes, 2 * samples * samples * sizeof(float));
  }
  // A solver needs some rows even where nothing is left.
  const std::size_t least_row_bytes = kLeastRows * samples * value_bytes;
  plan.row_cache_bytes = std::max(plan.row_cache_bytes, least_row_bytes);
  plan.needed_bytes = plan.working_bytes + std::max(least_row_bytes, plan.certificate_bytes);
  if (machines > 1) {
    ShareAmongMachines(samples, exact.MatrixCount(), caches, value_bytes, context, plan);
  }
  return plan;
}

std::string BytesText(std::size_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return fmt::format("{:.3g} {}", value, kUnits[unit]);
}

}  // namespace kweave
