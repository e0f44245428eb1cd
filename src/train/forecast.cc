#include "train/forecast.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/memory.h"
#include "base/threads.h"
#include "kernel/language.h"
#include "kweave/error.h"
#include "kweave/train.h"
#include "train/effective_options.h"
#include "train/feature_groups.h"
#include "train/memory_plan.h"
#include "train/multiclass.h"
#include "train/prepared.h"

namespace kweave {
namespace {

// What is known before a kernel is computed.
struct Outline {
  Index kernels = 0, pair_kernels = 0;
  MemoryPlan plan;
};

Outline MakeOutline(const PreparedSamples& samples, const TrainOptions& options, const Context& context) {
  Outline outline;
  KernelSet kernels =
      ParseKernels(EffectiveKernels(options, samples.views), samples.views, context.seed, samples.numbering);
  outline.kernels = kernels.size();
  const std::vector<Index> on_pairs = FindPairKernels(kernels);
  outline.pair_kernels = std::ssize(on_pairs);
  if (!on_pairs.empty()) {
    std::vector<Index> others;
    for (Index m = 0; m < outline.kernels; ++m) {
      if (!std::ranges::binary_search(on_pairs, m)) others.push_back(m);
    }
    kernels = kernels.Select(others);
  }
  outline.plan =
      PlanMemory(kernels, ViewsOf(kernels, samples.views), static_cast<Index>(samples.indices.size()),
                 options, context, MachineCount(options, samples), OutputsOfOneMachine(options, samples));
  return outline;
}

}  // namespace

void RequireMemory(const PreparedSamples& samples, const TrainOptions& options, const Context& context) {
  if (context.memory_bytes == 0) return;
  const std::size_t needed = MakeOutline(samples, options, context).plan.needed_bytes;
  if (needed <= context.memory_bytes) return;
  const std::string allowed = BytesText(context.memory_bytes), rule = "at least about " + BytesText(needed);
  throw Error(ErrorKind::kResource,
              fmt::format("`memory` allows {}, training needs {} beside the data", allowed, rule),
              {"memory", allowed, rule});
}

Forecast ForecastTraining(const Dataset& data, const CheckedOptions& checked, const Context& context) {
  const TrainOptions& options = *checked;
  const PreparedSamples samples = PrepareSamples(data, options);
  const auto taken = static_cast<std::size_t>(PeakMemoryBytes());
  const auto [kernels, pair_kernels, plan] = MakeOutline(samples, options, context);
  const auto count = static_cast<double>(samples.indices.size());
  const double pairs = count * static_cast<double>(samples.classes.size());
  Forecast forecast;
  forecast.data_bytes = plan.data_bytes;
  forecast.cache_bytes = plan.base_cache_bytes + plan.row_cache_bytes;
  // The model keeps a copy of its samples.
  forecast.peak_bytes =
      taken + plan.working_bytes + plan.data_bytes + std::max(forecast.cache_bytes, plan.certificate_bytes);
  forecast.pair_evaluations =
      static_cast<double>(plan.bases) * count * count + static_cast<double>(pair_kernels) * pairs * pairs;
  forecast.samples = static_cast<Index>(samples.indices.size());
  forecast.kernels = kernels;
  return forecast;
}

std::string Forecast::ToText() const {
  return fmt::format(
      "samples               {}\n"
      "kernels               {}\n"
      "data                  {}\n"
      "caches, at most       {}\n"
      "peak memory, about    {}\n"
      "one pass, at most     {:.3g} base values\n",
      samples, kernels, BytesText(data_bytes), BytesText(cache_bytes), BytesText(peak_bytes),
      pair_evaluations);
}

}  // namespace kweave
