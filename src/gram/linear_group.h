#ifndef KWEAVE_GRAM_LINEAR_GROUP_H_
#define KWEAVE_GRAM_LINEAR_GROUP_H_

#include <memory>
#include <vector>

#include "gram/base_rows.h"
#include "gram/group.h"
#include "gram/linear_features.h"
#include "kernel/kernel_set.h"

namespace kweave {

struct LinearMember {
  Index kernel = 0;
  const FeatureSubset* subset = nullptr;
  double scale = 1;
};

/// All linear kernels of one view, on any of its features: together they are one weighted inner product, and
/// their quadratics follow from X' a in O(n d) for all of them. A single kernel on all features may take its
/// rows from `products`, which keeps them while theta moves and must outlive the group; null: they are
/// computed when asked for.
template <class T>
std::unique_ptr<Group<T>> MakeLinearGroup(std::vector<LinearMember> members,
                                          std::shared_ptr<const LinearFeatures<T>> features,
                                          Index right_count, BaseRows<T>* products);

/// The products of all features, not weighted, as a base quantity.
template <class T>
std::unique_ptr<BaseBlock<T>> MakeLinearProducts(std::shared_ptr<const LinearFeatures<T>> features);

}  // namespace kweave

#endif  // KWEAVE_GRAM_LINEAR_GROUP_H_
