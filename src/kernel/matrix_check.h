// Solves         Is a matrix, on disk or in memory, a kernel matrix: square, finite, symmetric, positive
//                semidefinite?
// Method         One pass compares K u with K' u for a random u: they are equal only if K is symmetric. A few
//                Lanczos steps bound the ends of the spectrum from inside, so a matrix called indefinite is.
// Takes, returns matrices, number of samples; one MatrixCheck per matrix. Throws Error(kData) on any but the
//                last question.
// Holds          Never a false alarm. Indefiniteness may be missed when it is small.
// Costs          kLeastSteps passes over each file, and up to kLanczosSteps while the budget lasts; threads
//                share the rows.
#ifndef KWEAVE_KERNEL_MATRIX_CHECK_H_
#define KWEAVE_KERNEL_MATRIX_CHECK_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "kernel/kernel_set.h"

namespace kweave {

struct MatrixCheck {
  bool is_indefinite = false;
  double smallest_eigenvalue = 0;  ///< at most this
  double largest_eigenvalue = 0;   ///< at least this
};

/// Checks matrices that are to be kernels among `samples` samples, or whatever else `unit` says; `seed` draws
/// the u.
std::vector<MatrixCheck> CheckKernelMatrices(std::span<const MatrixSource> sources, Index samples,
                                             ThreadPool& pool, std::string_view unit = "sample",
                                             std::uint64_t seed = 0);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_MATRIX_CHECK_H_
