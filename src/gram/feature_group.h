#ifndef KWEAVE_GRAM_FEATURE_GROUP_H_
#define KWEAVE_GRAM_FEATURE_GROUP_H_

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gram/base_store.h"
#include "gram/family_group.h"
#include "gram/feature_rows.h"
#include "gram/feature_table.h"
#include "gram/group.h"
#include "kernel/base_quantity.h"
#include "kernel/kernel_set.h"

namespace kweave {

/// The values of one feature.
struct FeatureColumn {
  FeaturePlace place;
  std::vector<double> left;
  std::vector<double> right;  ///< empty: the same
};

/// Whether kernels of this kind on these features are smooth functions of the two values of a single one.
bool IsSmoothInOneFeature(const KernelKind& kind, const Features& features, const FeatureSubset& subset);

/// The feature of such a term.
FeatureColumn ColumnOf(const KernelTerm& term, const Sides& sides, const FeatureSubset& subset);

/// What is known of a family on a single feature before its group is made.
struct MeasuredFeature {
  FeatureTable table;  ///< without its matrices
  double mean_square = 0, largest_square = 0;
};

/// Whether values of powers of that feature keep their digits in float32 or float64.
bool KeepDigits(const KernelKind& kind, std::span<const FamilyMember> members, const MeasuredFeature& feature,
                bool use_float);

/// Nothing where the dimensions of its matrices would not be few.
std::optional<MeasuredFeature> MeasureFeature(const KernelKind& kind, std::span<const FamilyMember> members,
                                              const FeatureColumn& column, FeatureMatrices& matrices);

/// A family on a single feature, with the table that was measured for it. Its matrices have few dimensions,
/// however many samples there are, so quadratics and outputs follow from a few sums over the samples
/// (gram/feature_table.h) in O(n terms) instead of O(n^2). `rows` is the same family by its base quantity,
/// for its rows; null: `rows_of_all` takes them.
template <class T>
std::unique_ptr<Group<T>> MakeFeatureGroup(const KernelKind& kind, std::vector<FamilyMember> members,
                                           FeatureColumn column, FeatureTable table,
                                           FeatureMatrices& matrices, FeatureRows<T>* rows_of_all,
                                           std::unique_ptr<Group<T>> rows);

}  // namespace kweave

#endif  // KWEAVE_GRAM_FEATURE_GROUP_H_
