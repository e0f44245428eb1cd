// Samples on the device, and passes over all their pairs.
#ifndef KWEAVE_COMPUTE_CUDA_MATRIX_CUH_
#define KWEAVE_COMPUTE_CUDA_MATRIX_CUH_

#include <memory>
#include <span>
#include <vector>

#include "compute/cuda/memory.cuh"
#include "compute/cuda/passes.cuh"
#include "compute/cuda/working_set.cuh"
#include "compute/device.h"

namespace kweave::cuda {

/// What passes need to know of the device.
struct DeviceTraits {
  int multiprocessors = 1;
  int most_in_set = kMostInSet;
};

/// The set size of a solve over so many variables.
int SetSize(Index variables, const DeviceTraits& traits);

class Stream {
 public:
  Stream() { Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "open a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// One base on the device.
template <class T>
struct ResidentBase {
  bool is_distance = true;
  BaseFunctions functions;
  DeviceArray<T> values, norms;
  int depth = 0;
  Samples<T> samples() const { return {values.get(), norms.get(), depth}; }
};

/// The sum of some functions of a base.
template <class T>
struct BaseCombination {
  const ResidentBase<T>* base = nullptr;
  Combination<T> combination;
};

/// Memory of a solver that the next one takes over.
template <class T>
struct SolverMemory {
  SolverMemory(int variables, int most_in_set)
      : workspace(variables, most_in_set), most_in_set(most_in_set) {}
  SetWorkspace<T> workspace;
  int most_in_set;
  DeviceArray<double> beta, gradient, lower, upper, diagonal, kink, curvature, partials;
};

template <class T>
class CudaMatrix final : public DeviceMatrix {
 public:
  CudaMatrix(std::span<const DeviceBase> bases, Index samples, const DeviceTraits& traits, ThreadPool& pool);
  /// At most.
  static std::size_t Bytes(std::span<const DeviceBase> bases, Index samples, const DeviceTraits& traits);

  void AddMoments(std::span<const Index> rows, std::span<const double> factors,
                  std::span<double> moments) override;
  void Rows(std::span<const double> coefficients, std::span<const Index> rows, float* out,
            Index stride) override {
    RowsAs(coefficients, rows, out, stride);
  }
  void Rows(std::span<const double> coefficients, std::span<const Index> rows, double* out,
            Index stride) override {
    RowsAs(coefficients, rows, out, stride);
  }
  void Block(std::span<const double> coefficients, std::span<const Index> samples,
             std::span<double> out) override;
  std::unique_ptr<DualSolver> MakeSolver(std::span<const double> coefficients,
                                         std::span<const double> diagonal,
                                         const DualProblem& problem) override;

  int size() const { return size_; }
  const DeviceTraits& traits() const { return traits_; }
  cudaStream_t stream() const { return stream_.get(); }
  /// What is not zero.
  std::vector<BaseCombination<T>> Combine(std::span<const double> coefficients) const;

 private:
  template <class Out>
  void RowsAs(std::span<const double> coefficients, std::span<const Index> rows, Out* out, Index stride);
  void UploadBase(const DeviceBase& base, ThreadPool& pool);
  void UploadRows(std::span<const Index> rows);

  const DeviceTraits traits_;
  Stream stream_;
  const int size_;
  std::vector<ResidentBase<T>> bases_;
  std::unique_ptr<SolverMemory<T>> solver_memory_;
  // Of the running pass.
  DeviceArray<int> rows_;
  DeviceArray<T> factors_, values_;
  DeviceArray<double> partials_, moments_;
};

/// A solver on a matrix with these coefficients (solver.cu).
template <class T>
std::unique_ptr<DualSolver> MakeCudaSolver(const CudaMatrix<T>& matrix, std::vector<BaseCombination<T>> parts,
                                           std::span<const double> diagonal, const DualProblem& problem,
                                           SolverMemory<T>& memory);

}  // namespace kweave::cuda

#endif  // KWEAVE_COMPUTE_CUDA_MATRIX_CUH_
