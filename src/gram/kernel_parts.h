#ifndef KWEAVE_GRAM_KERNEL_PARTS_H_
#define KWEAVE_GRAM_KERNEL_PARTS_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "gram/base_store.h"
#include "gram/family_group.h"
#include "gram/linear_group.h"
#include "gram/make_gram.h"
#include "gram/normalization.h"
#include "kernel/kernel_set.h"

namespace kweave {

/// Kernels sorted by the way a Gram takes to them.
struct KernelParts {
  std::map<BaseKey, std::vector<FamilyMember>> families;     ///< functions of one base quantity
  std::map<std::int32_t, std::vector<LinearMember>> linear;  ///< by view; through their features
  std::vector<Index> singles;  ///< built from others, or normalised by more than a factor
  std::set<BaseKey> bases_of_singles;

  /// Whether training keeps the products of all features of a view for its linear kernel.
  bool AreProductsKept(std::int32_t view, std::span<const View> views) const;
};

/// Kernels that are left out are in no part. The kernels must outlive the parts.
KernelParts SortKernels(const KernelSet& kernels, const Normalization& normalization);

/// Matrices of base quantities.
struct BaseCount {
  Index made = 0;  ///< computed or in files
  Index cached =
      0;  ///< of those, the ones that a cache between calls is of use for: dear to compute again, or in files
};

/// What a Gram with these options has for training with kernels that are normalised in this sequence. Families on single features
/// mostly need none (gram/feature_rows.h).
BaseCount CountBases(const KernelSet& kernels, std::span<const View> views,
                     std::span<const Normalizer> sequence, const GramOptions& options);

}  // namespace kweave

#endif  // KWEAVE_GRAM_KERNEL_PARTS_H_
