// The matrix K as a solver by conjugate gradients sees it: products with dense vectors, in single precision.
#ifndef KWEAVE_QP_KERNEL_MATRIX_H_
#define KWEAVE_QP_KERNEL_MATRIX_H_

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/memory.h"
#include "qp/dual_problem.h"

namespace kweave {

/// Kept as a whole where it fits into `bytes`; else every product is a pass over the rows. Rows of a
/// RowSource leave out a constant, so that the matrix they make need not be positive semidefinite: it is made
/// so.
class KernelMatrix {
 public:
  /// `has_plane`: vectors sum to zero, so that K may be stored centred, which keeps more of its digits.
  KernelMatrix(RowSource<float>& rows, bool has_plane, std::size_t bytes);

  Index size() const { return size_; }
  bool is_stored() const { return is_stored_; }
  /// Computes what is stored; `proceed` is asked now and then. False when it said no.
  bool Load(const std::function<bool()>& proceed);
  /// Stored rows, lower triangle and upper; only after Load().
  std::span<const float> values() const { return {values_.data(), static_cast<std::size_t>(size_ * size_)}; }

  void Multiply(std::span<const double> x, std::span<double> out);
  void Diagonal(std::span<double> out);
  /// Rows of the samples, one after the other, not centred.
  void Rows(std::span<const Index> samples, float* out);

 private:
  void Centre();

  RowSource<float>& source_;
  const Index size_;
  const bool has_plane_;
  const float shift_;
  const bool is_stored_;
  bool is_loaded_ = false;
  LargeBuffer<float> values_;
  std::vector<float> x_, product_;
};

}  // namespace kweave

#endif  // KWEAVE_QP_KERNEL_MATRIX_H_
