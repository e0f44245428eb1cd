#include "train/memory_plan.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "base/memory.h"
#include "train/objective.h"

namespace kweave {
namespace {

// Below this target float32 kernel values would limit the gap that can be reached.
constexpr double kFloatGap = 1e-4;

// Measured with a9a: beyond a few thousand rows a larger cache of the solver saves no time.
constexpr std::size_t kUsefulRows = 4096;
constexpr std::size_t kUsefulRowBytes = std::size_t{512} << 20;

std::size_t FeatureBytes(const DenseRows<double>& dense) { return dense.rows * dense.cols * sizeof(double); }
std::size_t FeatureBytes(const DenseRows<float>& dense) { return dense.rows * dense.cols * sizeof(float); }
std::size_t FeatureBytes(const SparseRows& sparse) {
  const Index entries = sparse.offsets[sparse.rows] - sparse.offsets[0];
  return entries * (sizeof(double) + sizeof(std::int32_t)) + (sparse.rows + 1) * sizeof(Index);
}

// Distinct base matrices, computed or in files. A linear kernel goes through its features and has none.
Index CountBases(const KernelSet& kernels) {
  std::vector<std::tuple<const BaseQuantity*, std::int32_t, std::int32_t, std::int32_t>> bases;
  const auto add = [&](const auto& placed) {
    const bool is_linear = placed.kind->shape == Shape::kIdentity &&
                           placed.kind->base->source == BaseQuantity::Source::kInnerProduct &&
                           placed.kind->base->finish_f64 == nullptr;
    if (!is_linear) bases.emplace_back(placed.kind->base, placed.view, placed.subset, placed.file);
  };
  for (const Family& family : kernels.families) add(family);
  for (const Composite& composite : kernels.composites) std::ranges::for_each(composite.terms, add);
  std::ranges::sort(bases);
  return std::unique(bases.begin(), bases.end()) - bases.begin();
}

}  // namespace

MemoryPlan PlanMemory(const KernelSet& kernels, std::span<const View> views, Index samples,
                      const TrainOptions& options, const Context& context) {
  MemoryPlan plan;
  plan.use_float = options.gap >= kFloatGap;
  for (const View& view : views) {
    plan.data_bytes += std::visit([](const auto& f) { return FeatureBytes(f); }, view.features);
  }
  plan.bases = CountBases(kernels);

  const std::size_t total = context.memory_bytes > 0 ? context.memory_bytes : AvailableMemoryBytes() / 2;
  const std::size_t caches = total > plan.data_bytes ? total - plan.data_bytes : 0;
  const std::size_t matrix_bytes = samples * samples * (plan.use_float ? sizeof(float) : sizeof(double));
  const bool is_fixed = kernels.size() == 1 || std::isinf(options.norm);
  // Base values serve again only when theta moves.
  plan.base_cache_bytes = is_fixed ? 0 : std::min(caches / 3 * 2, plan.bases * matrix_bytes);
  // More rows than the solver comes back to would cost more to touch for the first time than to compute again.
  const std::size_t useful_rows = kUsefulRows * matrix_bytes / std::max<std::size_t>(samples, 1);
  plan.row_cache_bytes =
      std::min({caches - plan.base_cache_bytes, matrix_bytes, std::max(kUsefulRowBytes, useful_rows)});
  // Newton steps keep all of the learned kernel and a factor of it, in single precision.
  if (EffectiveLoss(options).make({})->smooth()) {
    plan.row_cache_bytes = std::min(caches - plan.base_cache_bytes, 2 * samples * samples * sizeof(float));
  }
  return plan;
}

}  // namespace kweave
