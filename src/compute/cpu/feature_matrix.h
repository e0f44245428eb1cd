// Samples by features, as solvers in the space of the features need them: products with vectors from either
// side and with itself.
#ifndef KWEAVE_COMPUTE_CPU_FEATURE_MATRIX_H_
#define KWEAVE_COMPUTE_CPU_FEATURE_MATRIX_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/threads.h"
#include "kweave/index.h"

namespace kweave {

/// The matrix X, one row per sample. Kept dense where a good part of its entries is there, else by entries.
/// Loops over rows run on all threads of a pool, or on this one without, and their sums do not depend on
/// which thread did what.
class FeatureMatrix {
 public:
  explicit FeatureMatrix(Index columns) : columns_(columns) {}

  /// Appends a row; `columns` ascending.
  void Append(std::span<const std::int32_t> columns, std::span<const double> values);
  /// To be called after the last row.
  void Finish();

  Index rows() const { return static_cast<Index>(offsets_.size()) - 1; }
  Index columns() const { return columns_; }
  Index entries() const { return offsets_.back(); }

  /// out = X w.
  void Multiply(std::span<const double> w, std::span<double> out, ThreadPool* pool) const;
  /// out = X' t; rows where t is zero cost nothing.
  void MultiplyTransposed(std::span<const double> t, std::span<double> out, ThreadPool* pool) const;
  /// out = X' V X w for a diagonal V that is zero but for some rows.
  void MultiplyTwice(std::span<const Index> rows, std::span<const double> v, std::span<const double> w,
                     std::span<double> out, ThreadPool* pool) const;
  /// Adds the lower triangle of X' V X to the columns() x columns() matrix `out` (row after row), V not
  /// negative.
  void AddSelfProduct(std::span<const Index> rows, std::span<const double> v, std::span<double> out,
                      ThreadPool* pool) const;
  /// out = the diagonal of X' V X.
  void SelfDiagonal(std::span<const Index> rows, std::span<const double> v, std::span<double> out) const;

 private:
  double Dot(Index row, const double* w) const;
  void AddScaled(Index row, double factor, double* out) const;
  void AddSparseSelf(Index row, double factor, double* out) const;
  void AddDenseSelf(std::span<const Index> rows, std::span<const double> v, std::span<double> out) const;
  template <class Add>
  void SumOverPieces(Index count, ThreadPool* pool, std::span<double> out, const Add& add) const;

  Index columns_;
  bool is_dense_ = false;
  std::vector<Index> offsets_{0};
  std::vector<std::int32_t> columns_of_;  // by entry, unless every row has all of them
  std::vector<double> values_;
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_FEATURE_MATRIX_H_
