#include "qp/preconditioner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "compute/cpu/float_algebra.h"

namespace kweave {

namespace {

constexpr Index kMostForFactor = 12000;  // beyond it n^3 operations take longer than passes over the rows
// On 14,000 samples of Adult, logistic loss, 256 take 0.9 times as long, and 4,096 more than 2.5 times. More
// than 256 serve kernels whose eigenvalues fall slowly.
constexpr Index kMostLandmarks = 1024;
constexpr float kRidge = 1e-5F;         // on the landmarks' diagonal, relative
constexpr Index kSizePerProduct = 100;  // a factor of n costs as much as n / this products

std::size_t Size(Index n) { return static_cast<std::size_t>(n); }

std::vector<Index> ChooseLandmarks(Index size, Index count, std::uint64_t seed) {
  Random random(seed + 1);
  std::vector<Index> samples(Size(size));
  std::iota(samples.begin(), samples.end(), Index{0});
  for (Index k = 0; k < count; ++k) std::swap(samples[Size(k)], samples[Size(k + random.Below(size - k))]);
  samples.resize(Size(count));
  std::sort(samples.begin(), samples.end());
  return samples;
}

}  // namespace

bool Preconditioner::Build(KernelMatrix& kernel, std::span<const double> v,
                           const std::function<bool()>& proceed) {
  size_ = kernel.size();
  const Index largest =
      std::min<Index>(kMostForFactor, static_cast<Index>(std::sqrt(static_cast<double>(bytes_) / 4)));
  kind_ = Kind::kNone;
  const bool use_factor = kernel.is_stored() && size_ <= largest;
  if (use_factor ? BuildFactor(kernel, v, proceed) : BuildLandmarks(kernel, v, proceed)) return true;
  if (!proceed()) return false;
  // Rounding may make the factor of a matrix fail whose smallest eigenvalue is one.
  scale_.resize(v.size());
  kernel.Diagonal(scale_);
  for (std::size_t i = 0; i < v.size(); ++i) scale_[i] = 1 / (std::max(scale_[i], 0.0) + v[i]);
  kind_ = Kind::kDiagonal;
  return true;
}

Index Preconditioner::products_per_build() const { return std::max<Index>(size_ / kSizePerProduct, 10); }

bool Preconditioner::BuildFactor(KernelMatrix& kernel, std::span<const double> v,
                                 const std::function<bool()>& proceed) {
  if (!kernel.Load(proceed)) return false;
  const std::size_t size = Size(size_);
  if (!values_.data() || landmarks_ != 0) values_ = LargeBuffer<float>(size * size);
  landmarks_ = 0;
  scale_.resize(size);
  for (std::size_t i = 0; i < size; ++i) scale_[i] = 1 / std::sqrt(v[i]);
  const std::vector<float> scale(scale_.begin(), scale_.end());
  const std::span<const float> from = kernel.values();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      values_.data()[i * size + j] = scale[i] * scale[j] * from[i * size + j];
    values_.data()[i * size + i] += 1;
  }
  if (!FactorCholesky({values_.data(), size * size}, static_cast<int>(size_), proceed)) return false;
  kind_ = Kind::kFactor;
  return true;
}

bool Preconditioner::BuildLandmarks(KernelMatrix& kernel, std::span<const double> v,
                                    const std::function<bool()>& proceed) {
  if (!kernel.Load(proceed)) return false;
  const std::size_t size = Size(size_);
  const Index fit = static_cast<Index>(bytes_ / (2 * sizeof(float) * size));
  const Index count = std::min({kMostLandmarks, std::max<Index>(fit, 1), size_});
  if (!values_.data() || landmarks_ != count) values_ = LargeBuffer<float>(Size(count) * size);
  landmarks_ = count;
  const std::vector<Index> samples = ChooseLandmarks(size_, count, seed_);
  kernel.Rows(samples, values_.data());
  if (!proceed()) return false;

  const int k = static_cast<int>(count), n = static_cast<int>(size_);
  const std::span<float> rows(values_.data(), Size(count) * size);
  factor_.assign(Size(count) * Size(count), 0);
  float trace = 0;
  for (std::size_t a = 0; a < Size(count); ++a) {
    for (std::size_t b = 0; b <= a; ++b) factor_[a * Size(count) + b] = rows[a * size + Size(samples[b])];
    trace += factor_[a * Size(count) + a];
  }
  for (std::size_t a = 0; a < Size(count); ++a)
    factor_[a * (Size(count) + 1)] += kRidge * trace / static_cast<float>(k);
  if (!FactorCholesky(factor_, k, proceed)) return false;
  SolveLower(factor_, k, rows, n);

  // What the landmarks miss of the diagonal is added to V.
  scale_.resize(size);
  kernel.Diagonal(scale_);
  for (std::size_t a = 0; a < Size(count); ++a) {
    for (std::size_t i = 0; i < size; ++i)
      scale_[i] -= static_cast<double>(rows[a * size + i]) * rows[a * size + i];
  }
  for (std::size_t i = 0; i < size; ++i) scale_[i] = 1 / (std::max(scale_[i], 0.0) + v[i]);

  factor_.assign(Size(count) * Size(count), 0);
  for (std::size_t a = 0; a < Size(count); ++a) factor_[a * (Size(count) + 1)] = 1;
  constexpr std::size_t kColumns = 4096;  // 16 MB with 1,024 landmarks; 1,024 or 16,384 take as long
  std::vector<float> block;
  for (std::size_t begin = 0; begin < size; begin += kColumns) {
    if (!proceed()) return false;
    const std::size_t width = std::min(kColumns, size - begin);
    block.resize(Size(count) * width);
    for (std::size_t a = 0; a < Size(count); ++a) {
      for (std::size_t i = 0; i < width; ++i) {
        block[a * width + i] = rows[a * size + begin + i] * static_cast<float>(std::sqrt(scale_[begin + i]));
      }
    }
    AddSelfProduct(block, k, static_cast<int>(width), factor_);
  }
  if (!FactorCholesky(factor_, k, proceed)) return false;
  kind_ = Kind::kLandmarks;
  return true;
}

void Preconditioner::Apply(std::span<const double> r, std::span<double> z) {
  const int n = static_cast<int>(size_);
  const std::size_t size = Size(size_);
  for (std::size_t i = 0; i < size; ++i) z[i] = scale_[i] * r[i];
  if (kind_ == Kind::kDiagonal) return;
  scratch_.assign(z.begin(), z.end());
  if (kind_ == Kind::kFactor) {
    const std::span<const float> factor(values_.data(), size * size);
    SolveLower(factor, n, scratch_);
    SolveUpper(factor, n, scratch_);
    for (std::size_t i = 0; i < size; ++i) z[i] = scale_[i] * scratch_[i];
    return;
  }
  const std::span<const float> rows(values_.data(), Size(landmarks_) * size);
  const int k = static_cast<int>(landmarks_);
  reduced_.resize(Size(landmarks_));
  Multiply(rows, k, n, scratch_, reduced_);
  SolveLower(factor_, k, reduced_);
  SolveUpper(factor_, k, reduced_);
  MultiplyTransposed(rows, k, n, reduced_, scratch_);
  for (std::size_t i = 0; i < size; ++i) z[i] -= scale_[i] * scratch_[i];
}

}  // namespace kweave
