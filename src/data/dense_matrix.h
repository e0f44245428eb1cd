#ifndef KWEAVE_DATA_DENSE_MATRIX_H_
#define KWEAVE_DATA_DENSE_MATRIX_H_

#include <span>
#include <string>
#include <variant>

#include "base/memory.h"
#include "kweave/dataset.h"

namespace kweave {

/// A dense matrix in the precision it was stored in.
using DenseMatrix = std::variant<DenseRows<double>, DenseRows<float>>;

/// Takes over rows * cols values; as float32 when `fits_float32` says that loses nothing.
DenseMatrix CompactDense(AlignedVector<double> values, Index rows, Index cols, bool fits_float32);

/// Takes over rows * cols values.
template <class T>
DenseRows<T> OwnDense(AlignedVector<T> values, Index rows, Index cols) {
  auto owner = std::make_shared<const AlignedVector<T>>(std::move(values));
  return {owner->data(), rows, cols, cols, owner};
}

/// Whether float32 holds every value exactly.
bool AllFitFloat32(std::span<const double> values);

/// Throws Error(kData) naming the first row and column that hold NaN or an infinity.
void CheckFinite(const DenseMatrix& matrix, const std::string& name);

/// The same as features.
Features ToFeatures(const DenseMatrix& matrix);

}  // namespace kweave

#endif  // KWEAVE_DATA_DENSE_MATRIX_H_
