#ifndef KWEAVE_KERNEL_CHI2_H_
#define KWEAVE_KERNEL_CHI2_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// The sum over features of (x - z)^2 / (x + z) with 0/0 = 0, for features >= 0.
extern const BaseQuantity kChi2DistanceQuantity;

/// k(x,z) = exp(-gamma sum (x - z)^2 / (x + z)).
extern const KernelKind kChi2;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_CHI2_H_
