#ifndef KWEAVE_KERNEL_POLY_H_
#define KWEAVE_KERNEL_POLY_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// k(x,z) = (gamma <x,z> + coef0)^degree.
extern const KernelKind kPoly;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_POLY_H_
