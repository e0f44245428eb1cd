// Solves   (K + V) z = r roughly, for a diagonal V > 0, as the preconditioner of conjugate gradients.
// Method   where n x n values fit: the Cholesky factor of I + V^-1/2 K V^-1/2 in single precision, whose
//          eigenvalues are at least one. Else K is replaced by its projection on a random choice of samples
//          (Williams, Seeger: Using the Nystroem method to speed up kernel machines, 2001), K_s' K_ss^-1 K_s
//          = L' L, and what that misses of the diagonal goes to V; then (L' L + V)^-1 = V^-1 - V^-1 L' (I + L
//          V^-1 L')^-1 L V^-1. Where a factor fails, the diagonal of K + V.
// Takes    K and V; gives products with a fixed, symmetric and positive definite matrix.
// Holds    stays what it is when K and V move on, so it can serve neighbouring problems.
// Costs    n^2 values and n^3 / 3 multiplications, or k n values and 2 k^2 n multiplications; a product reads
//          the values twice.
#ifndef KWEAVE_QP_PRECONDITIONER_H_
#define KWEAVE_QP_PRECONDITIONER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/memory.h"
#include "qp/kernel_matrix.h"

namespace kweave {

class Preconditioner {
 public:
  /// Uses at most about this much memory for its factor; `seed` chooses the landmarks.
  explicit Preconditioner(std::size_t bytes, std::uint64_t seed = 0) : bytes_(bytes), seed_(seed) {}

  /// For K + diag(v). False when `proceed`, asked now and then, said no.
  bool Build(KernelMatrix& kernel, std::span<const double> v, const std::function<bool()>& proceed);
  bool is_built() const { return kind_ != Kind::kNone; }
  /// How many products with it cost as much as building it, about.
  Index products_per_build() const;

  /// z is about (K + V)^-1 r.
  void Apply(std::span<const double> r, std::span<double> z);

 private:
  enum class Kind { kNone, kDiagonal, kFactor, kLandmarks };

  bool BuildFactor(KernelMatrix& kernel, std::span<const double> v, const std::function<bool()>& proceed);
  bool BuildLandmarks(KernelMatrix& kernel, std::span<const double> v, const std::function<bool()>& proceed);

  const std::size_t bytes_;
  const std::uint64_t seed_;
  Kind kind_ = Kind::kNone;
  Index size_ = 0;
  Index landmarks_ = 0;
  std::vector<double> scale_;  // V^-1/2 of a factor, V^-1 of landmarks, 1 / (K_ii + V_i) of a diagonal
  LargeBuffer<float> values_;  // R of I + V^-1/2 K V^-1/2, or L
  std::vector<float> factor_;  // R of I + L V^-1 L'
  std::vector<float> scratch_, reduced_;
};

}  // namespace kweave

#endif  // KWEAVE_QP_PRECONDITIONER_H_
