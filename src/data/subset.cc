#include "data/subset.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "data/matrix_file.h"
#include "kweave/error.h"

namespace kweave {
namespace {

template <class T>
std::vector<T> Pick(const std::vector<T>& values, std::span<const Index> rows) {
  std::vector<T> picked;
  if (values.empty()) return picked;
  for (const Index i : rows) picked.push_back(values[static_cast<std::size_t>(i)]);
  return picked;
}

// Where the samples are in a matrix; `now` is where all of them are, nothing where they are in order.
std::vector<Index> PickIndices(const std::vector<Index>& now, std::span<const Index> rows) {
  return now.empty() ? std::vector<Index>(rows.begin(), rows.end()) : Pick(now, rows);
}

}  // namespace

Dataset SelectSamples(const Dataset& data, std::span<const Index> rows, std::span<const Index> columns) {
  Dataset part;
  part.size = static_cast<Index>(rows.size());
  for (const View& view : data.views) part.views.push_back(SelectSamples(view, rows));
  if (ColumnCount(data.confounds.features) > 0) part.confounds = SelectSamples(data.confounds, rows);
  for (const GramMatrix& matrix : data.matrices) {
    GramMatrix own = matrix;
    own.row_indices = PickIndices(matrix.row_indices, rows);
    own.column_indices = PickIndices(matrix.column_indices, columns);
    own.row_numbers = Pick(matrix.row_numbers, rows);
    own.column_numbers = Pick(matrix.column_numbers, columns);
    part.matrices.push_back(std::move(own));
  }
  part.labels = {Pick(data.labels.text, rows), Pick(data.labels.number, rows), data.labels.separator};
  part.ids = Pick(data.ids, rows);
  part.numbering.first = data.numbering.first;
  for (const Index i : rows)
    part.numbering.positions.push_back(data.numbering.Sample(i) - data.numbering.first);
  return part;
}

GramMatrix ReadGramMatrix(const std::string& path, Index samples) {
  const MatrixFile file = MatrixFile::Open(path);
  if (file.rows() != samples || file.cols() != samples) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: {} x {} values for {} samples, expected a row and a column for every sample",
                            path, file.rows(), file.cols(), samples));
  }
  const auto values = std::make_shared<std::vector<double>>(static_cast<std::size_t>(samples * samples));
  file.Rows(0, samples, values->data(), samples);
  return {.name = path, .values = DenseRows<double>{values->data(), samples, samples, samples, values}};
}

}  // namespace kweave
