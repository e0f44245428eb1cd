#include "qp/kernel_matrix.h"

#include <algorithm>
#include <numeric>

#include "base/constants.h"
#include "compute/cpu/float_algebra.h"

namespace kweave {

namespace {

std::size_t Bytes(Index size) {
  return static_cast<std::size_t>(size) * static_cast<std::size_t>(size) * sizeof(float);
}

}  // namespace

KernelMatrix::KernelMatrix(RowSource<float>& rows, bool has_plane, std::size_t bytes)
    : source_(rows),
      size_(rows.size()),
      has_plane_(has_plane),
      shift_(static_cast<float>(rows.Shift())),
      is_stored_(Bytes(rows.size()) <= bytes) {}

bool KernelMatrix::Load(const std::function<bool()>& proceed) {
  if (!is_stored_ || is_loaded_) return true;
  values_ = LargeBuffer<float>(static_cast<std::size_t>(size_ * size_));
  std::vector<Index> batch;
  for (Index begin = 0; begin < size_; begin += kRowsPerCall) {
    if (!proceed()) return false;
    batch.resize(static_cast<std::size_t>(std::min(kRowsPerCall, size_ - begin)));
    std::iota(batch.begin(), batch.end(), begin);
    if (has_plane_) {
      source_.Rows(batch, values_.data() + begin * size_, size_);
    } else {
      Rows(batch, values_.data() + begin * size_);
    }
  }
  if (has_plane_) Centre();
  is_loaded_ = true;
  return true;
}

void KernelMatrix::Centre() {
  std::vector<float> means(static_cast<std::size_t>(size_));
  double mean = 0;
  for (Index i = 0; i < size_; ++i) {
    const float* row = values_.data() + i * size_;
    const double sum = std::accumulate(row, row + size_, 0.0);
    means[static_cast<std::size_t>(i)] = static_cast<float>(sum / static_cast<double>(size_));
    mean += sum / static_cast<double>(size_) / static_cast<double>(size_);
  }
  for (Index i = 0; i < size_; ++i) {
    float* row = values_.data() + i * size_;
    const float constant = static_cast<float>(mean) - means[static_cast<std::size_t>(i)];
    for (Index j = 0; j < size_; ++j) row[j] += constant - means[static_cast<std::size_t>(j)];
  }
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
