#ifndef KWEAVE_TRAIN_MEMORY_PLAN_H_
#define KWEAVE_TRAIN_MEMORY_PLAN_H_

#include <cstddef>
#include <string>

#include "kernel/kernel_set.h"
#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/options.h"

namespace kweave {

/// How the memory of one training run is shared out.
struct MemoryPlan {
  bool use_float = true;              ///< kernel values in float32 while solving
  std::size_t data_bytes = 0;         ///< features as read
  std::size_t working_bytes = 0;      ///< the program, packed samples and vectors, beside data and caches
  std::size_t certificate_bytes = 0;  ///< samples packed for the certificate, when caches are gone
  std::size_t base_cache_bytes = 0;   ///< base quantities that serve every kernel of a family
  std::size_t row_cache_bytes = 0;    ///< rows of the learned kernel
  /// Beside the data, with no caches but the rows a solver cannot do without.
  std::size_t needed_bytes = 0;
  bool keeps_bases = false;        ///< several machines: all base quantities fit
  bool keeps_exact_bases = false;  ///< those of the certificate, too
  Index bases = 0;                 ///< n x n base matrices that the kernels are functions of
};

/// Shares out Context::memory_bytes, or half of what is free: what is not needed otherwise goes to caches. A
/// fixed learned kernel (one kernel, or p = inf) is best served by its own rows; otherwise the rows go stale
/// with theta and bases that are expensive to compute again take the larger part. Nothing gets more than it
/// can fill. Several machines of two classes come back to the bases, which are kept as a whole where they
/// fit, and have a part of the rows each. A machine with several outputs has vectors over samples and
/// outputs.
MemoryPlan PlanMemory(const KernelSet& kernels, std::span<const View> views, Index samples,
                      const TrainOptions& options, const Context& context, Index machines = 1,
                      Index outputs = 1);

/// For people: 1.25 GB.
std::string BytesText(std::size_t bytes);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_MEMORY_PLAN_H_
