#ifndef KWEAVE_KERNEL_TANIMOTO_H_
#define KWEAVE_KERNEL_TANIMOTO_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// <x,z> / (||x||^2 + ||z||^2 - <x,z>). Two zero vectors are equal, so their value is 1, as on every other
/// pair of equal vectors.
extern const BaseQuantity kTanimotoQuantity;

/// k(x,z) = <x,z> / (||x||^2 + ||z||^2 - <x,z>).
extern const KernelKind kTanimoto;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_TANIMOTO_H_
