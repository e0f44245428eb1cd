#ifndef KWEAVE_KERNEL_RBF_H_
#define KWEAVE_KERNEL_RBF_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// ||x - z||^2, from inner products and norms.
extern const BaseQuantity kSquaredDistanceQuantity;

/// k(x,z) = exp(-gamma ||x - z||^2), the Gaussian kernel.
extern const KernelKind kRbf;

/// The place of gamma among its parameters.
inline constexpr std::size_t kRbfGamma = 0;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_RBF_H_
