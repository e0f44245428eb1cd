#ifndef KWEAVE_KERNEL_PRECOMPUTED_H_
#define KWEAVE_KERNEL_PRECOMPUTED_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// A value of a matrix on disk.
extern const BaseQuantity kFileQuantity;

/// k(x_i,x_j) = entry (i,j) of a matrix on disk.
extern const KernelKind kPrecomputed;

/// A kernel on pairs of sample and class, for machines that learn all classes at once: k((x_i,u), (x_j,v)) =
/// entry (i m + u, j m + v) of a matrix on disk, m the number of classes.
extern const KernelKind kJointMatrix;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_PRECOMPUTED_H_
