#ifndef KWEAVE_GRAM_SCALED_FEATURES_H_
#define KWEAVE_GRAM_SCALED_FEATURES_H_

#include <functional>
#include <memory>
#include <span>

#include "compute/cpu/feature_matrix.h"
#include "gram/group.h"

namespace kweave {

/// The features of all parts side by side, each times the root of its weight; those without weight are left
/// out. Calls `poll` now and then.
template <class T>
std::unique_ptr<FeatureMatrix> ScaleFeatures(std::span<const WeightedFeatures<T>> parts, Index samples,
                                             const std::function<void()>& poll);

}  // namespace kweave

#endif  // KWEAVE_GRAM_SCALED_FEATURES_H_
