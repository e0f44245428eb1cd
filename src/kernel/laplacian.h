#ifndef KWEAVE_KERNEL_LAPLACIAN_H_
#define KWEAVE_KERNEL_LAPLACIAN_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// ||x - z||_1, the sum over features of |x - z|.
extern const BaseQuantity kL1DistanceQuantity;

/// k(x,z) = exp(-gamma ||x - z||_1).
extern const KernelKind kLaplacian;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_LAPLACIAN_H_
