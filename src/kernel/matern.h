#ifndef KWEAVE_KERNEL_MATERN_H_
#define KWEAVE_KERNEL_MATERN_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// With r = ||x - z|| and l the length scale: nu = 1.5, k(x,z) = (1 + s) exp(-s), s = sqrt(3) r / l; nu =
/// 2.5, k(x,z) = (1 + s + s^2/3) exp(-s), s = sqrt(5) r / l. A function of ||x - z||^2, which it shares with
/// Gaussians.
extern const KernelKind kMatern;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_MATERN_H_
