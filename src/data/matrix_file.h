#ifndef KWEAVE_DATA_MATRIX_FILE_H_
#define KWEAVE_DATA_MATRIX_FILE_H_

#include <span>
#include <string>

#include "data/dense_matrix.h"
#include "data/file_bytes.h"
#include "kweave/dataset.h"

namespace kweave {

/// A matrix in a file, such as a precomputed kernel, or one that a caller holds in memory. A NumPy file of
/// float32 or float64 in C order is memory-mapped: opening it costs nothing, rows are read from disk when
/// asked for, and its values have not been checked (a reader checks for NaN as it goes). Everything else
/// (other NumPy types, text separated by blanks or commas, compressed files) is in memory after Open, all
/// values finite. Copies share the file. Const calls may run on several threads.
class MatrixFile {
 public:
  /// Throws Error(kData) naming file, line, column and value.
  static MatrixFile Open(const std::string& path);
  /// Values in the caller's memory, not checked. Throws Error(kUsage) on an index outside of the matrix.
  static MatrixFile Wrap(const GramMatrix& matrix);
  /// The same from bytes already in memory.
  static MatrixFile Parse(const FileBytes& file);
  /// The same values with rows and columns in another order: row r is row order[r] here, and so columns. A
  /// square matrix.
  MatrixFile Reordered(std::span<const Index> order) const;

  const std::string& name() const { return matrix_.name; }
  Index rows() const;
  Index cols() const;
  /// What messages call a row or a column.
  Index RowNumber(Index i) const;
  Index ColumnNumber(Index j) const;
  /// Whether float32 holds every value exactly because they are stored so.
  bool is_float32() const { return std::holds_alternative<DenseRows<float>>(matrix_.values); }
  /// Whether the rows are read from disk on demand.
  bool is_mapped() const { return is_mapped_; }

  /// Copies rows first_row to first_row + count - 1, converted, each `stride` values (>= cols()) after the
  /// last.
  void Rows(Index first_row, Index count, float* out, Index stride) const;
  void Rows(Index first_row, Index count, double* out, Index stride) const;
  /// Copies columns begin to end - 1 of one row, converted.
  void RowPart(Index row, Index begin, Index end, float* out) const;
  void RowPart(Index row, Index begin, Index end, double* out) const;
  /// Gives the resident pages of a mapped file back to the system, so that a pass over a large file stays
  /// small. The rows remain readable.
  void Release(Index first_row, Index count) const;

 private:
  MatrixFile(GramMatrix matrix, bool is_mapped);

  GramMatrix matrix_;
  bool is_mapped_;
};

}  // namespace kweave

#endif  // KWEAVE_DATA_MATRIX_FILE_H_
