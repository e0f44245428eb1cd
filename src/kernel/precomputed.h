#ifndef KWEAVE_KERNEL_PRECOMPUTED_H_
#define KWEAVE_KERNEL_PRECOMPUTED_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// A value of a matrix on disk.
extern const BaseQuantity kFileQuantity;

/// k(x_i,x_j) = entry (i,j) of a matrix on disk.
extern const KernelKind kPrecomputed;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_PRECOMPUTED_H_
