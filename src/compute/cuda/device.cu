#include <algorithm>
#include <string>

#include "compute/cuda/matrix.cuh"

namespace kweave {
namespace {

constexpr int kLeastMajor = 8;        // the oldest compute capability the kernels are compiled for
constexpr double kShareOfFree = 0.9;  // of the memory: the rest is for the driver and others

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(std::size_t most_bytes) : most_bytes_(most_bytes) {
    int devices = 0;
    cuda::Check(cudaGetDeviceCount(&devices), "be found");
    if (devices == 0) throw DeviceError("there is no CUDA device");
    cuda::Check(cudaGetDeviceProperties(&properties_, 0), "say what it is");
    if (properties_.major < kLeastMajor) {
      throw DeviceError(std::string(properties_.name) + " has compute capability " +
                        std::to_string(properties_.major) + "." + std::to_string(properties_.minor) +
                        ", and 8.0 or later is needed");
    }
    cuda::Check(cudaSetDevice(0), "start");
    cuda::Check(cudaFree(nullptr), "start");
    traits_ = {properties_.multiProcessorCount, cuda::MostInSet(properties_.sharedMemPerBlockOptin)};
  }

  std::string Description() const override {
    return std::string(properties_.name) + " with " + std::to_string(properties_.totalGlobalMem >> 20) +
           " MiB";
  }
  std::size_t FreeBytes() const override {
    std::size_t free_bytes = 0, all_bytes = 0;
    cuda::Check(cudaMemGetInfo(&free_bytes, &all_bytes), "say how much memory is free");
    const auto share = static_cast<std::size_t>(kShareOfFree * static_cast<double>(free_bytes));
    return most_bytes_ > 0 ? std::min(most_bytes_, share) : share;
  }
  std::size_t NeededBytes(std::span<const DeviceBase> bases, Index samples, bool use_float) const override {
    return use_float ? cuda::CudaMatrix<float>::Bytes(bases, samples, traits_)
                     : cuda::CudaMatrix<double>::Bytes(bases, samples, traits_);
  }
  std::unique_ptr<DeviceMatrix> MakeMatrix(std::span<const DeviceBase> bases, Index samples, bool use_float,
                                           ThreadPool& pool) override {
    if (use_float) return std::make_unique<cuda::CudaMatrix<float>>(bases, samples, traits_, pool);
    return std::make_unique<cuda::CudaMatrix<double>>(bases, samples, traits_, pool);
  }

 private:
  const std::size_t most_bytes_;
  cudaDeviceProp properties_{};
  cuda::DeviceTraits traits_;
};

}  // namespace

std::unique_ptr<Device> OpenDevice(std::size_t most_bytes) {
  return std::make_unique<CudaDevice>(most_bytes);
}

}  // namespace kweave
