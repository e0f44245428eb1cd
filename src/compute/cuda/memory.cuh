// Memory of a CUDA device, and its errors as sentences.
#ifndef KWEAVE_COMPUTE_CUDA_MEMORY_CUH_
#define KWEAVE_COMPUTE_CUDA_MEMORY_CUH_

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>

#include "compute/device.h"

namespace kweave::cuda {

/// Throws DeviceError unless all is well.
inline void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that the next call starts afresh, where it can
  throw DeviceError(std::string("the CUDA device failed to ") + what + ": " + cudaGetErrorString(error));
}

inline void CheckLaunch() { Check(cudaGetLastError(), "start a computation"); }

/// Values on the device.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size) { Resize(size); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept { *this = std::move(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  /// At least this many; what was there is lost where it grows.
  void Resize(std::size_t size) {
    if (size <= size_) return;
    cudaFree(data_);
    data_ = nullptr;
    size_ = 0;
    Check(cudaMalloc(&data_, size * sizeof(T)), "give memory");
    size_ = size;
  }
  T* get() const { return data_; }
  std::size_t size() const { return size_; }

  void Upload(const T* from, std::size_t count, cudaStream_t stream) {
    Resize(count);
    Check(cudaMemcpyAsync(data_, from, count * sizeof(T), cudaMemcpyHostToDevice, stream), "take data");
  }
  /// Waits for what is on the way.
  void Download(T* to, std::size_t count, cudaStream_t stream) const {
    Check(cudaMemcpyAsync(to, data_, count * sizeof(T), cudaMemcpyDeviceToHost, stream), "return data");
    Check(cudaStreamSynchronize(stream), "compute");
  }
  void Clear(std::size_t count, cudaStream_t stream) {
    Resize(count);
    Check(cudaMemsetAsync(data_, 0, count * sizeof(T), stream), "clear memory");
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Memory of the host that the device copies from at full speed.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t size) {
    Check(cudaMallocHost(&data_, size * sizeof(T)), "pin memory of the host");
  }
  ~PinnedArray() { cudaFreeHost(data_); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

}  // namespace kweave::cuda

#endif  // KWEAVE_COMPUTE_CUDA_MEMORY_CUH_
