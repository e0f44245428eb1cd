#ifndef KWEAVE_DATASET_H_
#define KWEAVE_DATASET_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kweave/context.h"
#include "kweave/index.h"

namespace kweave {

/// n x d values, row after row, `stride` elements from one row to the next. Not owned unless `owner` is set.
template <class T>
struct DenseRows {
  const T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;
  std::shared_ptr<const void> owner;

  std::span<const T> row(Index i) const { return {data + i * stride, static_cast<std::size_t>(cols)}; }
};

/// Compressed sparse rows: row i holds entries offsets[i] to offsets[i + 1], columns ascending from 0.
struct SparseRows {
  const Index* offsets = nullptr;
  const std::int32_t* columns = nullptr;
  const double* values = nullptr;
  Index rows = 0;
  Index cols = 0;
  std::shared_ptr<const void> owner;
};

/// The features of all samples in one view. Float32 only where that loses nothing.
using Features = std::variant<DenseRows<double>, DenseRows<float>, SparseRows>;

Index RowCount(const Features& features);
Index ColumnCount(const Features& features);

/// Builds dense features that own their values (rows * cols of them, row after row).
Features MakeDense(std::vector<double> values, Index rows, Index cols);

/// A copy of the rows in `indices`, in that order.
Features SelectRows(const Features& features, std::span<const Index> indices);

/// Row i as doubles, zeros filled in; `out` holds ColumnCount values.
void CopyRow(const Features& features, Index i, std::span<double> out);

/// One source of evidence about the samples.
struct View {
  std::string name = "data";
  Features features;
  std::vector<std::string> feature_names;  ///< empty when the file has none
};

/// Kernel values in memory, between samples (rows) and training samples (columns). Kernels name such a matrix as
/// they name a file: `precomputed(file=NAME)`.
struct GramMatrix {
  std::string name;
  std::variant<DenseRows<double>, DenseRows<float>> values;
  Index column_stride = 1;              ///< elements from one column to the next
  std::vector<Index> row_indices = {};  ///< the rows that are meant, in their order; empty: all
  std::vector<Index> column_indices = {};
};

/// Labels as read. `text` holds them as written; `number` too when every one of them is a finite number.
struct Labels {
  std::vector<std::string> text;
  std::vector<double> number;
  std::string separator;  ///< between the labels of one sample; empty: every sample has one label
  bool is_numeric() const { return number.size() == text.size(); }
  bool empty() const { return text.empty(); }
};

/// The same samples seen through one or more views.
struct Dataset {
  std::vector<View> views;
  std::vector<GramMatrix> matrices;
  Labels labels;                 ///< empty when absent
  std::vector<std::string> ids;  ///< empty when absent
  Index size = 0;
};

/// Where one view comes from.
struct ViewSource {
  std::string name = "data";
  std::string path;
};

struct ReadOptions {
  std::vector<ViewSource> views;
  std::string labels_path;  ///< a file of labels, one per line or as a column joined by id; empty: first view
  std::string format;       ///< "libsvm", "csv", "tsv", "npy"; empty: detected
  /// CSV: name or 1-based index of a column that must be there, in any file or in the first; empty: a column of the
  /// first view called "label", "class", "target" or "y", unless the labels have a file of their own.
  std::string label_column;
  /// CSV: name or 1-based index; empty: a column called "id", "sample" or "sample_id", or a first one without a name;
  /// "none": such a column is left out and the files are joined by row.
  std::string id_column;
  /// Between the labels of a sample that has several; empty: a comma in LIBSVM files, elsewhere one label per sample.
  std::string label_separator;
  bool labels_required = true;
  /// When predicting, what each view had in training; Model::ExpectViews fills these in. The number of features (0: as
  /// the file says), and their names (none: as the file says). A CSV file with a header may have others beside them.
  std::vector<Index> expected_columns;
  std::vector<std::vector<std::string>> expected_names;
  LogSink log;  ///< for notes about what was ignored; may be empty
};

/// Reads, decompresses, detects, parses and joins. Throws Error(kData) naming file, line, column and value.
Dataset ReadDataset(const ReadOptions& options);

}  // namespace kweave

#endif  // KWEAVE_DATASET_H_
