#ifndef KWEAVE_KERNEL_PERIODIC_H_
#define KWEAVE_KERNEL_PERIODIC_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// sum over features of sin^2(pi (x - z) / period). Kernels of one period share it.
extern const BaseQuantity kSquaredSineQuantity;

/// k(x,z) = exp(-2 sum sin^2(pi (x - z) / period) / l^2) with l the length scale.
extern const KernelKind kPeriodic;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_PERIODIC_H_
