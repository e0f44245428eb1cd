#ifndef KWEAVE_KERNEL_RATIONAL_QUADRATIC_H_
#define KWEAVE_KERNEL_RATIONAL_QUADRATIC_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// k(x,z) = (1 + ||x - z||^2 / (2 alpha l^2))^-alpha with l the length scale: a mixture of Gaussians of many
/// widths; the larger alpha, the closer to one of them, exp(-||x - z||^2 / (2 l^2)).
extern const KernelKind kRationalQuadratic;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_RATIONAL_QUADRATIC_H_
