#ifndef KWEAVE_GRAM_LINEAR_GROUP_H_
#define KWEAVE_GRAM_LINEAR_GROUP_H_

#include <memory>
#include <vector>

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
/// their quadratics follow from X' a in O(n d) for all of them.
template <class T>
std::unique_ptr<Group<T>> MakeLinearGroup(std::vector<LinearMember> members,
                                          std::unique_ptr<LinearFeatures<T>> features, Index right_count);

}  // namespace kweave

#endif  // KWEAVE_GRAM_LINEAR_GROUP_H_
