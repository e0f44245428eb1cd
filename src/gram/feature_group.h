#ifndef KWEAVE_GRAM_FEATURE_GROUP_H_
#define KWEAVE_GRAM_FEATURE_GROUP_H_

#include <functional>
#include <memory>
#include <span>
#include <vector>

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
FeatureColumn ColumnOf(const KernelTerm& term, const Features& features, const FeatureSubset& subset);

/// A family on a single feature. Its matrices have few dimensions, however many samples there are, so quadratics and outputs
/// follow from a few sums over the samples (gram/feature_table.h) in O(n terms) instead of O(n^2). Rows are left to
/// `rows_of_all`, where that is not null and takes them; else they come from what `make_rows` makes, the same family by its base
/// quantity, which is returned as it is where the dimensions would not be few.
template <class T>
std::unique_ptr<Group<T>> MakeFeatureGroup(Shape shape, const std::vector<FamilyMember>& members,
                                           const FeatureColumn& column, GaussianMatrices& matrices,
                                           FeatureRows<T>* rows_of_all,
                                           const std::function<std::unique_ptr<Group<T>>()>& make_rows);

/// Whether that, for training, leaves rows to `rows_of_all`, which takes them as it would.
template <class T>
bool LeavesRows(Shape shape, const std::vector<FamilyMember>& members, const FeatureColumn& column,
                GaussianMatrices& matrices, FeatureRows<T>& rows_of_all);

}  // namespace kweave

#endif  // KWEAVE_GRAM_FEATURE_GROUP_H_
