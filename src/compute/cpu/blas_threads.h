// How many threads the BLAS uses. Its threads spin while they wait for each other, which costs more than it
// saves on small matrices, so it gets one but for operations that are large.
#ifndef KWEAVE_COMPUTE_CPU_BLAS_THREADS_H_
#define KWEAVE_COMPUTE_CPU_BLAS_THREADS_H_

namespace kweave {

/// While it lives, the BLAS uses one thread, and up to `threads` where ThreadedBlas asks for them; the
/// program around us may have chosen another number.
class ScopedBlasThreads {
 public:
  explicit ScopedBlasThreads(int threads);
  ~ScopedBlasThreads();
  ScopedBlasThreads(const ScopedBlasThreads&) = delete;
  ScopedBlasThreads& operator=(const ScopedBlasThreads&) = delete;

 private:
  int before_, allowed_before_;
};

/// Gives the BLAS all threads that ScopedBlasThreads allows while an operation on a large n x n matrix runs;
/// smaller ones leave it as it is.
class ThreadedBlas {
 public:
  explicit ThreadedBlas(int n);
  ~ThreadedBlas();
  ThreadedBlas(const ThreadedBlas&) = delete;
  ThreadedBlas& operator=(const ThreadedBlas&) = delete;

 private:
  const bool is_large_;
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_BLAS_THREADS_H_
