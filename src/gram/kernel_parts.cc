#include "gram/kernel_parts.h"

#include <algorithm>

#include "gram/feature_group.h"
#include "kernel/linear.h"

namespace kweave {
namespace {

// Looking at more costs more than a closer plan is worth: single features beyond count as if they had a base.
constexpr Index kMostValuesLookedAt = Index{1} << 22;

template <class T>
BaseCount Count(const KernelSet& kernels, std::span<const View> views, const KernelParts& parts,
                FamilyEvaluation evaluation) {
  std::set<BaseKey> bases = parts.bases_of_singles;
  GaussianMatrices matrices;
  const Index samples = RowCount(views[0].features);
  FeatureRows<T> rows_of_all(samples);
  Index looked_at = 0;
  const auto may_look = [&] { return (looked_at += samples) <= kMostValuesLookedAt; };
  for (const auto& [key, members] : parts.families) {
    const KernelTerm term = kernels.Term(members.front().kernel);
    const Features& features = views[static_cast<std::size_t>(term.view)].features;
    const FeatureSubset& subset = kernels.subsets[static_cast<std::size_t>(term.subset)];
    const bool has_no_base =
        evaluation != FamilyEvaluation::kDirect && IsSmoothInOneFeature(*term.kind, features, subset) &&
        may_look() &&
        LeavesRows(term.kind->shape, members, ColumnOf(term, features, subset), matrices, rows_of_all);
    if (!has_no_base) bases.insert(key);
  }
  const auto products = static_cast<Index>(std::ranges::count_if(
      parts.linear, [&](const auto& part) { return parts.AreProductsKept(part.first, views); }));
  const auto is_cached = [&](const BaseKey& key) {
    const auto& [quantity, view, subset, file] = key;
    return file >= 0 || !IsCheapInTraining(*quantity, views[static_cast<std::size_t>(view)].features,
                                           kernels.subsets[static_cast<std::size_t>(subset)]);
  };
  const auto cached = static_cast<Index>(std::ranges::count_if(bases, is_cached));
  return {static_cast<Index>(bases.size()) + products, cached + products};
}

}  // namespace

// Where there are other kernels the machine needs rows, and those of many features are worth keeping.
bool KernelParts::AreProductsKept(std::int32_t view, std::span<const View> views) const {
  const std::vector<LinearMember>& members = linear.at(view);
  const bool has_others = !families.empty() || !singles.empty();
  return has_others && members.size() == 1 && members[0].subset->empty() &&
         AreProductsDear(views[static_cast<std::size_t>(view)].features);
}

KernelParts SortKernels(const KernelSet& kernels, const Normalization& normalization) {
  KernelParts parts;
  for (Index m = 0; m < kernels.size(); ++m) {
    const double scale = normalization.scale[m];
    if (scale == 0) continue;
    if (kernels.IsComposite(m) || normalization.chains.contains(m)) {
      parts.singles.push_back(m);
      for (const KernelTerm& term : kernels.Expression(m).terms) parts.bases_of_singles.insert(KeyOf(term));
      continue;
    }
    const KernelTerm term = kernels.Term(m);
    if (term.kind == &kLinear) {
      parts.linear[term.view].push_back({m, &kernels.subsets[term.subset], scale});
    } else {
      parts.families[KeyOf(term)].push_back({m, term.parameters, scale});
    }
  }
  return parts;
}

BaseCount CountBases(const KernelSet& kernels, std::span<const View> views,
                     std::span<const Normalizer> sequence, const GramOptions& options) {
  const KernelParts parts = SortKernels(kernels, UnfittedNormalization(kernels, sequence));
  return options.use_float ? Count<float>(kernels, views, parts, options.evaluation)
                           : Count<double>(kernels, views, parts, options.evaluation);
}

}  // namespace kweave
