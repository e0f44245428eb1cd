#include "qp/kernel_matrix.h"

#include <algorithm>
#include <numeric>

#include "compute/cpu/float_algebra.h"

namespace kweave {

namespace {

constexpr Index kRowsPerCall = 256;

std::size_t Bytes(Index size) {
  return static_cast<std::size_t>(size) * static_cast<std::size_t>(size) * sizeof(float);
}

}  // namespace

KernelMatrix::KernelMatrix(RowSource<float>& rows, bool with_shift, std::size_t bytes)
    : source_(rows),
      size_(rows.size()),
      shift_(with_shift ? static_cast<float>(rows.Shift()) : 0),
      is_stored_(Bytes(rows.size()) <= bytes) {}

bool KernelMatrix::Load(const std::function<bool()>& proceed) {
  if (!is_stored_ || is_loaded_) return true;
  values_ = LargeBuffer<float>(static_cast<std::size_t>(size_ * size_));
  std::vector<Index> batch;
  for (Index begin = 0; begin < size_; begin += kRowsPerCall) {
    if (!proceed()) return false;
    batch.resize(static_cast<std::size_t>(std::min(kRowsPerCall, size_ - begin)));
    std::iota(batch.begin(), batch.end(), begin);
    Rows(batch, values_.data() + begin * size_);
  }
  is_loaded_ = true;
  return true;
}

void KernelMatrix::Multiply(std::span<const double> x, std::span<double> out) {
  if (!is_loaded_) {
    source_.Multiply(x, out);
    return;
  }
  x_.assign(x.begin(), x.end());
  product_.resize(x.size());
  MultiplySymmetric(values(), static_cast<int>(size_), x_, product_);
  std::copy(product_.begin(), product_.end(), out.begin());
}

void KernelMatrix::Diagonal(std::span<double> out) {
  source_.Diagonal(out);
  for (double& value : out) value += shift_;
}

void KernelMatrix::Rows(std::span<const Index> samples, float* out) {
  source_.Rows(samples, out, size_);
  if (shift_ == 0) return;
  std::for_each(out, out + static_cast<Index>(samples.size()) * size_,
                [this](float& value) { value += shift_; });
}

}  // namespace kweave
