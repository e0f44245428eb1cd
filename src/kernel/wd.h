#ifndef KWEAVE_KERNEL_WD_H_
#define KWEAVE_KERNEL_WD_H_

#include <vector>

#include "kernel/kernel_kind.h"

namespace kweave {

/// Weighted degrees: equal words of two sequences at the same position.
extern const KernelKind kWd;

/// What an equal word of 1, 2, ... letters adds.
std::vector<double> WordWeights(const KernelParameters& parameters);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_WD_H_
