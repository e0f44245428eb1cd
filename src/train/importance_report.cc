#include "train/importance_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "weights/strategies/known_weights.h"

namespace kweave {
namespace {

// Of the sum of all weights: what would change the order of kernels that a reader takes away.
constexpr double kOpenShare = 0.1;

void Add(const std::string& name, Index kernel, std::unordered_map<std::string, std::size_t>& numbers,
         KernelSources& sources) {
  const auto [entry, is_new] = numbers.try_emplace(name, sources.names.size());
  if (is_new) {
    sources.names.push_back(name);
    sources.parts.emplace_back();
  }
  sources.parts[entry->second].push_back(kernel);
}

// Parts of the kernels as parts of the weights that the regulariser sees.
KernelParts OverProducts(const KernelParts& parts, std::size_t kernels, std::size_t class_kernels) {
  KernelParts products(parts.size());
  for (std::size_t k = 0; k < parts.size(); ++k) {
    for (const Index m : parts[k]) {
      const auto number = static_cast<std::size_t>(m);
      const bool is_product = number < kernels;
      const std::size_t first =
          is_product ? number * class_kernels : kernels * class_kernels + (number - kernels);
      for (std::size_t y = 0; y < (is_product ? class_kernels : 1); ++y)
        products[k].push_back(static_cast<Index>(first + y));
    }
  }
  return products;
}

// The weights that were learned are among those that their own objective leaves open, but for rounding.
bool Contradicts(const Importance& importance, std::span<const double> theta) {
  if (importance.weights.size() != theta.size()) return false;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    if (!(theta[m] >= importance.weights[m].lower && theta[m] <= importance.weights[m].upper)) return true;
  }
  return false;
}

}  // namespace

KernelSources SourcesOf(const PreparedKernels& prepared) {
  KernelSources sources;
  std::unordered_map<std::string, std::size_t> numbers;
  std::vector<std::string> of_family(prepared.kernels.families.size());
  for (Index m = 0; m < prepared.kernels.size(); ++m) {
    if (prepared.kernels.IsComposite(m)) {
      Add(prepared.kernels.Source(m), m, numbers, sources);
      continue;
    }
    std::string& name = of_family[static_cast<std::size_t>(prepared.kernels.order[m].family)];
    if (name.empty()) name = prepared.kernels.Source(m);
    Add(name, m, numbers, sources);
  }
  for (Index m = 0; m < prepared.pairs.kernels.size(); ++m)
    Add(prepared.pairs.kernels.Source(m), prepared.kernels.size() + m, numbers, sources);
  return sources;
}

LearnedImportance FindImportance(const Regularizer& regularizer, Certificate certificate,
                                 std::span<const double> theta, const KernelSources& sources,
                                 std::size_t kernels, std::size_t class_kernels) {
  if (certificate.cuts.empty()) return {FindImportance(regularizer, certificate), {}};
  const std::size_t weights = certificate.cuts[0].quadratics.size();
  MixCuts(regularizer, certificate);
  LearnedImportance importance;
  if (class_kernels == 1) {
    importance.kernels = FindImportance(regularizer, certificate);
  } else {
    KernelParts singles(weights - kernels * (class_kernels - 1));
    for (std::size_t m = 0; m < singles.size(); ++m) singles[m] = {static_cast<Index>(m)};
    importance.kernels =
        FindImportance(regularizer, certificate, OverProducts(singles, kernels, class_kernels));
  }
  if (Contradicts(importance.kernels, theta)) {
    const Importance unknown{.reason = "rounding is larger than the gap"};
    return {unknown, unknown};
  }
  importance.sources =
      FindImportance(regularizer, certificate, OverProducts(sources.parts, kernels, class_kernels));
  return importance;
}

std::string NoteOnOpenWeights(const TrainOptions& options, const PreparedKernels& prepared,
                              const Importance& importance, std::span<const double> theta) {
  const double total = std::accumulate(theta.begin(), theta.end(), 0.0);
  if (!importance.is_known() || !(total > 0)) return "";
  const double error = ShareError(importance, theta);
  if (options.weights_tolerance > 0 && error > options.weights_tolerance) {
    return fmt::format(
        "the shares of the kernels are known to {:.2g} only, not to the `weights_tolerance` {}", error,
        options.weights_tolerance);
  }
  if (error <= kOpenShare) return "";
  std::size_t widest = 0;
  const auto width = [&](std::size_t m) { return importance.shares[m].upper - importance.shares[m].lower; };
  for (std::size_t m = 0; m < theta.size(); ++m) widest = width(m) > width(widest) ? m : widest;
  const Index number = widest < prepared.kept.size() ? prepared.kept[widest]
                                                     : prepared.pairs.kept[widest - prepared.kept.size()];
  return fmt::format(
      "a gap of {} leaves the kernel weights open: at the optimum '{}' may have from {:.0f} to {:.0f} % of "
      "their sum; `weights_tolerance` 0.01 goes on until they are known",
      options.gap, prepared.names[number], std::floor(100 * importance.shares[widest].lower),
      std::ceil(100 * importance.shares[widest].upper));
}

}  // namespace kweave
