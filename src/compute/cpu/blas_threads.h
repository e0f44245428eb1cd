#ifndef KWEAVE_COMPUTE_CPU_BLAS_THREADS_H_
#define KWEAVE_COMPUTE_CPU_BLAS_THREADS_H_

namespace kweave {

/// Lets the BLAS use `threads` threads while it lives; the program around us may have chosen another number.
class ScopedBlasThreads {
 public:
  explicit ScopedBlasThreads(int threads);
  ~ScopedBlasThreads();
  ScopedBlasThreads(const ScopedBlasThreads&) = delete;
  ScopedBlasThreads& operator=(const ScopedBlasThreads&) = delete;

 private:
  int before_;
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_BLAS_THREADS_H_
