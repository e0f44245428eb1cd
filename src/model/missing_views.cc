#include "model/missing_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "data/presence.h"
#include "kweave/error.h"
#include "model/predict.h"

namespace kweave {
namespace {

bool KnowsMissing(const ModelContent& content, Index m) {
  const auto chain = content.normalization.chains.find(m);
  return chain != content.normalization.chains.end() &&
         std::ranges::find(chain->second, Normalizer::kPresence, &FittedStep::kind) != chain->second.end();
}

// The kernels that a sample cannot have, as it lacks one of their views.
std::vector<bool> MissingKernels(const ModelContent& content, std::span<const View> views,
                                 const std::vector<bool>& lacks) {
  std::vector<bool> is_missing(content.kernels.size(), false);
  for (Index m = 0; m < content.kernels.size(); ++m) {
    if (KnowsMissing(content, m)) continue;
    for (const KernelTerm& term : content.kernels.Expression(m).terms) {
      if (term.file < 0 && static_cast<std::size_t>(term.view) < views.size() && lacks[term.view])
        is_missing[m] = true;
    }
  }
  return is_missing;
}

ModelContent Without(const ModelContent& content, const std::vector<bool>& is_missing) {
  ModelContent reduced = content;
  for (ModelMachine& machine : reduced.machines) {
    for (std::size_t m = 0; m < is_missing.size(); ++m) {
      if (!is_missing[m] || machine.theta[m] == 0) continue;
      if (machine.mean_parts.empty()) {
        throw Error(
            ErrorKind::kData,
            fmt::format("a new sample lacks a view of kernel '{}', and the model does not know what the "
                        "kernel adds on average: it has no other view, or an earlier version trained it",
                        content.kernels.Name(static_cast<Index>(m))));
      }
      machine.theta[m] = 0;
      machine.bias += machine.mean_parts[m];
    }
  }
  return reduced;
}

}  // namespace

std::vector<MissingPattern> SplitByMissing(const ModelContent& content, std::span<const View> views,
                                           Index count) {
  if (!LacksViews(views)) return {};
  std::map<std::vector<bool>, std::vector<Index>> samples_of;
  for (Index i = 0; i < count; ++i) {
    std::vector<bool> lacks;
    for (const View& view : views) lacks.push_back(!view.Has(i));
    samples_of[std::move(lacks)].push_back(i);
  }
  std::vector<MissingPattern> patterns;
  bool concerns_kernels = false;
  for (auto& [lacks, samples] : samples_of) {
    const std::vector<bool> is_missing = MissingKernels(content, views, lacks);
    concerns_kernels = concerns_kernels || std::ranges::find(is_missing, true) != is_missing.end();
    patterns.push_back({std::move(samples), is_missing, Without(content, is_missing)});
  }
  if (!concerns_kernels) patterns.clear();
  return patterns;
}

void FindMeanParts(const std::vector<View>& samples, Index count, const Context& context,
                   ModelContent& content) {
  const Index kernels = content.kernels.size();
  bool all_know = true;
  for (Index m = 0; m < kernels; ++m) all_know = all_know && KnowsMissing(content, m);
  if (all_know || samples.size() < 2 || !content.kernels.files.empty() || !content.pairs.kernels.empty())
    return;
  Dataset data;
  data.size = count;
  data.views = samples;
  for (std::size_t k = 0; k < content.machines.size(); ++k) {
    const std::vector<double> parts = DecideByKernel(content, data, {}, context, static_cast<Index>(k));
    std::vector<double> means(kernels, 0.0);
    for (Index i = 0; i < count; ++i) {
      for (Index m = 0; m < kernels; ++m) means[m] += parts[i * kernels + m] / static_cast<double>(count);
    }
    content.machines[k].mean_parts = std::move(means);
  }
}

}  // namespace kweave
