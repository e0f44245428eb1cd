#include "train/warm_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "data/number.h"
#include "kweave/error.h"
#include "model/content.h"
#include "train/objective.h"

namespace kweave {
namespace {

// A share of the bound that only duals at it have: solvers leave them off by rounding.
constexpr double kAtBound = 1 - 1e-6;

/// The C that a model was trained with; `fallback` where it does not say.
double TrainedC(const Model& model, double fallback) {
  const auto& options = model.summary().options;
  const auto found = std::ranges::find(options, "C", &std::pair<std::string, std::string>::first);
  return found == options.end() ? fallback : ToNumber(found->second).value_or(fallback);
}

}  // namespace

WarmStart MakeWarmStart(const Model& start, const PreparedSamples& samples, const PreparedKernels& prepared,
                        const TrainOptions& options, std::size_t machine) {
  const ModelContent& content = start.content();
  const ModelMachine& one = content.machines.at(machine);
  if (content.training_count != static_cast<Index>(samples.indices.size())) {
    throw Error(ErrorKind::kUsage, fmt::format("a start from a model of {} samples, but there are {}",
                                               content.training_count, samples.indices.size()));
  }
  std::unordered_map<std::string, double> weights;
  for (Index m = 0; m < content.kernels.size(); ++m) weights[content.kernels.Name(m)] = one.theta[m];
  WarmStart result;
  for (Index m : prepared.kept) {
    const auto found = weights.find(prepared.names[m]);
    result.theta.push_back(found == weights.end() ? 0 : found->second);
  }
  // Duals of smooth losses grow with C. Those of others do so at their bounds; within them they hardly move
  // once C no longer binds.
  const double growth = options.C / TrainedC(start, options.C);
  const bool is_smooth = EffectiveLoss(options).make({})->smooth() != nullptr;
  result.beta.assign(samples.indices.size(), 0.0);
  for (std::size_t k = 0; k < one.beta.values.size(); ++k) {
    const Index index = content.sample_indices[one.beta.positions[k]];
    const auto at = std::ranges::lower_bound(samples.indices, index);
    if (at == samples.indices.end() || *at != index) continue;
    const auto i = static_cast<std::size_t>(at - samples.indices.begin());
    const double beta = one.beta.values[k], bound = samples.upper[i];
    const bool is_at_bound = std::abs(beta) * growth >= kAtBound * bound;
    result.beta[i] = is_smooth || is_at_bound ? growth * beta : std::clamp(beta, -bound, bound);
  }
  return result;
}

}  // namespace kweave
