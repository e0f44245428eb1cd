#ifndef KWEAVE_KERNEL_LOCAL_ALIGNMENT_H_
#define KWEAVE_KERNEL_LOCAL_ALIGNMENT_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// The sum over all local alignments pi of exp(beta s(pi)), divided by the root of the sums of each sequence
/// with itself (Saigo, Vert, Ueda, Akutsu: Protein homology detection using string alignment kernels, 2004).
/// The score s has 1 for equal letters, -1 for others, -open for the first letter of a gap and -extend for
/// each further one: exp(beta s) of two letters is a positive definite matrix, and so the kernel is one.
extern const KernelKind kLocalAlignment;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_LOCAL_ALIGNMENT_H_
