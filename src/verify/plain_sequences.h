// Kernels on sequences by their definitions, word by word.
#ifndef KWEAVE_VERIFY_PLAIN_SEQUENCES_H_
#define KWEAVE_VERIFY_PLAIN_SEQUENCES_H_

#include <span>

#include "kernel/kernel_set.h"
#include "kweave/index.h"

namespace kweave::verify {

/// A sequence by the numbers of its letters, -1 where one is not known.
using Letters = std::span<const int>;

/// k(x, z) of the kernel of that name on the letters `region` of both (kernel/region.h), out of `alphabet`
/// letters.
double SequenceValue(std::string_view kernel, const KernelParameters& parameters, const FeatureSubset& region,
                     Letters x, Letters z, int alphabet);

}  // namespace kweave::verify

#endif  // KWEAVE_VERIFY_PLAIN_SEQUENCES_H_
