#include "compute/cpu/blas_threads.h"

#include <cblas.h>

namespace kweave {

ScopedBlasThreads::ScopedBlasThreads(int threads) : before_(openblas_get_num_threads()) {
  openblas_set_num_threads(threads);
}

ScopedBlasThreads::~ScopedBlasThreads() { openblas_set_num_threads(before_); }

}  // namespace kweave
