#ifndef KWEAVE_KERNEL_INTERSECTION_H_
#define KWEAVE_KERNEL_INTERSECTION_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// The sum over features of min(x, z), for features >= 0.
extern const BaseQuantity kMinimumSumQuantity;

/// k(x,z) = sum min(x, z), the histogram intersection kernel.
extern const KernelKind kIntersection;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_INTERSECTION_H_
