// A kernel matrix with an explicit feature map, as the solver of qp/nested_sets.h needs it.
#ifndef KWEAVE_COMPUTE_PRODUCT_MATRIX_H_
#define KWEAVE_COMPUTE_PRODUCT_MATRIX_H_

#include <memory>
#include <span>

#include "kweave/index.h"

namespace kweave {

/// Positive semidefinite; multiplies a vector in far less time than all of its rows take, and does so between
/// some of the samples, too. Calls are made from one thread and use all of them inside.
class ProductMatrix {
 public:
  virtual ~ProductMatrix() = default;
  virtual Index size() const = 0;
  virtual void Diagonal(std::span<double> out) const = 0;
  /// Rows `stride` values apart, to the precision of the values.
  virtual void Rows(std::span<const Index> rows, float* out, Index stride) const = 0;
  /// out = K a.
  virtual void Multiply(std::span<const double> a, std::span<double> out) const = 0;
  /// The matrix between some samples, in this order. It may outlive this one, but not what this one was made
  /// from. `multiplies`: products will be asked for, not rows alone.
  virtual std::unique_ptr<ProductMatrix> Part(std::span<const Index> samples, bool multiplies) const = 0;
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_PRODUCT_MATRIX_H_
