#include <fmt/format.h>

#include <algorithm>

#include "base/memory.h"
#include "base/threads.h"
#include "kernel/language.h"
#include "kweave/train.h"
#include "train/effective_options.h"
#include "train/memory_plan.h"
#include "train/multiclass.h"
#include "train/prepared.h"

namespace kweave {
namespace {

std::string Bytes(std::size_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return fmt::format("{:.3g} {}", value, kUnits[unit]);
}

}  // namespace

Forecast ForecastTraining(const Dataset& data, const CheckedOptions& checked, const Context& context) {
  const TrainOptions& options = *checked;
  const PreparedSamples samples = PrepareSamples(data, options);
  KernelSet kernels = ParseKernels(EffectiveKernels(options), samples.views, context.seed, samples.numbering);
  const auto count = static_cast<Index>(samples.indices.size());
  const Index total = kernels.size();
  const std::vector<Index> on_pairs = FindPairKernels(kernels);
  if (!on_pairs.empty()) {
    std::vector<Index> others;
    for (Index m = 0; m < total; ++m) {
      if (!std::ranges::binary_search(on_pairs, m)) others.push_back(m);
    }
    kernels = kernels.Select(others);
  }
  const auto pairs = static_cast<double>(count) * static_cast<double>(samples.classes.size());
  const auto taken = static_cast<std::size_t>(PeakMemoryBytes());
  const MemoryPlan plan =
      PlanMemory(kernels, ViewsOf(kernels, samples.views), count, options, context,
                 HasSeveralMachines(options, samples), OutputsOfOneMachine(options, samples));
  Forecast forecast;
  forecast.data_bytes = plan.data_bytes;
  forecast.cache_bytes = plan.base_cache_bytes + plan.row_cache_bytes;
  // The model keeps a copy of its samples.
  forecast.peak_bytes =
      taken + plan.working_bytes + plan.data_bytes + std::max(forecast.cache_bytes, plan.certificate_bytes);
  forecast.pair_evaluations =
      static_cast<double>(plan.bases) * static_cast<double>(count) * static_cast<double>(count) +
      static_cast<double>(on_pairs.size()) * pairs * pairs;
  forecast.samples = count;
  forecast.kernels = total;
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
      samples, kernels, Bytes(data_bytes), Bytes(cache_bytes), Bytes(peak_bytes), pair_evaluations);
}

}  // namespace kweave
