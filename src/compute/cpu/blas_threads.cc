#include "compute/cpu/blas_threads.h"

#include <cblas.h>

#include <mutex>
#include <utility>

namespace kweave {
namespace {

constexpr int kLargeMatrix = 1500;  // rows: a factorisation of some hundredths of a second

std::mutex mutex;
int allowed = 1;  // threads of large operations
int running = 0;  // large operations
int resting = 1;  // threads before the first of them

}  // namespace

ScopedBlasThreads::ScopedBlasThreads(int threads) : before_(openblas_get_num_threads()) {
  const std::lock_guard lock(mutex);
  allowed_before_ = std::exchange(allowed, threads);
  if (running == 0) openblas_set_num_threads(1);
}

ScopedBlasThreads::~ScopedBlasThreads() {
  const std::lock_guard lock(mutex);
  allowed = allowed_before_;
  openblas_set_num_threads(before_);
}

ThreadedBlas::ThreadedBlas(int n) : is_large_(n >= kLargeMatrix) {
  if (!is_large_) return;
  const std::lock_guard lock(mutex);
  if (running++ > 0) return;
  resting = openblas_get_num_threads();
  openblas_set_num_threads(allowed);
}

ThreadedBlas::~ThreadedBlas() {
  if (!is_large_) return;
  const std::lock_guard lock(mutex);
  if (--running == 0) openblas_set_num_threads(resting);
}

}  // namespace kweave
