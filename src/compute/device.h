// Kernels between samples on an accelerator: what a back end asks of one. Nothing here names a maker; a build
// without any has compute/no_device.cc in the place of compute/cuda/.
#ifndef KWEAVE_COMPUTE_DEVICE_H_
#define KWEAVE_COMPUTE_DEVICE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/threads.h"
#include "compute/dual_solver.h"
#include "kweave/error.h"
#include "kweave/index.h"

namespace kweave {

/// What an accelerator refused or failed at, in one sentence. The CPU can do the same work.
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& sentence) : Error(ErrorKind::kResource, sentence) {}
};

/// Functions of one base quantity b of a pair of samples.
struct BaseFunctions {
  enum class Form {
    kExponential,  ///< exp(-rate b) - 1
    kPower,        ///< (rate b + offset)^degree
    kTable,        ///< the Chebyshev polynomials T_0, T_1, ... of slope log(1 + stretch v) + offset
  };
  struct Member {
    double rate = 1, offset = 0;
    int degree = 1;
  };
  Form form = Form::kPower;
  std::vector<Member> members;  ///< of the first two forms
  /// Of a table, as all below; v = b or its root; without stretch slope v + offset.
  Index terms = 0;
  double stretch = 0, slope = 1, offset = 0;
  bool is_of_root = false;

  Index count() const { return form == Form::kTable ? terms : static_cast<Index>(members.size()); }
};

/// A base quantity, squared distance or inner product, and functions of it.
struct DeviceBase {
  bool is_distance = true;
  Index features = 0;
  /// Writes the features of sample i; called from several threads.
  std::function<void(Index i, std::span<double> features)> copy_sample;
  BaseFunctions functions;
};

/// The functions of several bases between all pairs of n samples, which lie on the device in float32 or
/// float64. Functions are numbered through, base after base; coefficients and moments have one entry or row
/// for each. Values are evaluated when they are needed and never kept. Every call throws DeviceError.
class DeviceMatrix {
 public:
  virtual ~DeviceMatrix() = default;
  /// moments[k n + j] += sum_r factors[r] phi_k(rows[r], j), sums over more than some samples in float64.
  virtual void AddMoments(std::span<const Index> rows, std::span<const double> factors,
                          std::span<double> moments) = 0;
  /// out[r stride + j] = sum_k coefficients[k] phi_k(rows[r], j).
  virtual void Rows(std::span<const double> coefficients, std::span<const Index> rows, float* out,
                    Index stride) = 0;
  virtual void Rows(std::span<const double> coefficients, std::span<const Index> rows, double* out,
                    Index stride) = 0;
  /// The same between these samples only: out[r size + c].
  virtual void Block(std::span<const double> coefficients, std::span<const Index> samples,
                     std::span<double> out) = 0;
  /// On the matrix with these coefficients and this diagonal. One solver at a time; the problem and this must
  /// outlive it.
  virtual std::unique_ptr<DualSolver> MakeSolver(std::span<const double> coefficients,
                                                 std::span<const double> diagonal,
                                                 const DualProblem& problem) = 0;
};

/// An accelerator.
class Device {
 public:
  virtual ~Device() = default;
  /// For people: its name and memory.
  virtual std::string Description() const = 0;
  /// What a matrix may take, in bytes.
  virtual std::size_t FreeBytes() const = 0;
  /// What a matrix with these bases would take.
  virtual std::size_t NeededBytes(std::span<const DeviceBase> bases, Index samples, bool use_float) const = 0;
  /// The device must outlive it. The pool is used here only.
  virtual std::unique_ptr<DeviceMatrix> MakeMatrix(std::span<const DeviceBase> bases, Index samples,
                                                   bool use_float, ThreadPool& pool) = 0;
};

/// The first accelerator of the machine, of whose memory at most `most_bytes` are used (0: nine tenths of
/// what is free). Throws DeviceError where there is none.
std::unique_ptr<Device> OpenDevice(std::size_t most_bytes);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_DEVICE_H_
