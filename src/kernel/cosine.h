#ifndef KWEAVE_KERNEL_COSINE_H_
#define KWEAVE_KERNEL_COSINE_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// <x,z> / (||x|| ||z||), and 0 where x or z is zero.
extern const BaseQuantity kCosineQuantity;

/// k(x,z) = <x,z> / (||x|| ||z||).
extern const KernelKind kCosine;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_COSINE_H_
