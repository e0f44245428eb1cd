#ifndef KWEAVE_KERNEL_WDS_H_
#define KWEAVE_KERNEL_WDS_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// Weighted degrees with shifts: equal words of two sequences at positions that are close (Raetsch,
/// Sonnenburg, Schoelkopf: RASE: recognition of alternatively spliced exons in C. elegans, 2005). Positive
/// semidefinite: for one word it is a Toeplitz matrix over the positions, whose symbol 1 + sum_s cos(s t) /
/// (s + 1) is not below 1/2 (Rogosinski, Szego, 1928).
extern const KernelKind kWds;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_WDS_H_
