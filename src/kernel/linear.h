#ifndef KWEAVE_KERNEL_LINEAR_H_
#define KWEAVE_KERNEL_LINEAR_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// <x,z>, shared by all kernels that are functions of it.
extern const BaseQuantity kInnerProductQuantity;

/// k(x,z) = <x,z>.
extern const KernelKind kLinear;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_LINEAR_H_
