#include "select/subset.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <set>

#include "base/hash_index.h"
#include "data/matrix_file.h"
#include "kweave/error.h"
#include "kweave/train.h"

namespace kweave {
namespace {

template <class T>
std::vector<T> Pick(const std::vector<T>& values, std::span<const Index> rows) {
  std::vector<T> picked;
  if (values.empty()) return picked;
  for (const Index i : rows) picked.push_back(values[static_cast<std::size_t>(i)]);
  return picked;
}

// Where the samples are in the matrix; `now` is where all of them are.
std::vector<Index> PickIndices(const std::vector<Index>& now, std::span<const Index> rows) {
  return now.empty() ? std::vector<Index>(rows.begin(), rows.end()) : Pick(now, rows);
}

GramMatrix ReadMatrix(const std::string& path, Index samples) {
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

std::uint64_t HashText(std::uint64_t hash, const std::string& text) {
  for (const char c : text) hash = MixHash(hash, static_cast<unsigned char>(c));
  return MixHash(hash, text.size());
}

}  // namespace

Dataset Subset(const Dataset& data, std::span<const Index> rows, std::span<const Index> columns) {
  Dataset part;
  part.size = static_cast<Index>(rows.size());
  for (const View& view : data.views)
    part.views.push_back({view.name, SelectRows(view.features, rows), view.feature_names});
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

TrainOptions Subset(const TrainOptions& options, std::span<const Index> rows) {
  TrainOptions own = options;
  own.sample_weights = Pick(options.sample_weights, rows);
  own.keep_samples.clear();
  return own;
}

Dataset WithFiles(const Dataset& data, std::span<const TrainOptions> points) {
  Dataset whole = data;
  std::set<std::string> known;
  for (const GramMatrix& matrix : data.matrices) known.insert(matrix.name);
  for (const TrainOptions& point : points) {
    for (const auto& [option, path] : FilesOfOptions(data, point)) {
      if (option == "kernels" && known.insert(path).second)
        whole.matrices.push_back(ReadMatrix(path, data.size));
    }
  }
  return whole;
}

std::uint64_t Fingerprint(const Dataset& data) {
  std::uint64_t hash = static_cast<std::uint64_t>(data.size);
  for (const View& view : data.views) {
    hash = HashText(hash, view.name);
    std::vector<double> row(static_cast<std::size_t>(ColumnCount(view.features)));
    for (Index i = 0; i < data.size; ++i) {
      CopyRow(view.features, i, row);
      for (const double value : row) hash = MixHash(hash, std::bit_cast<std::uint64_t>(value));
    }
  }
  for (const GramMatrix& matrix : data.matrices) {
    const MatrixFile file = MatrixFile::Wrap(matrix);
    std::vector<double> row(static_cast<std::size_t>(file.cols()));
    for (Index i = 0; i < file.rows(); ++i) {
      file.Rows(i, 1, row.data(), file.cols());
      for (const double value : row) hash = MixHash(hash, std::bit_cast<std::uint64_t>(value));
    }
  }
  for (const std::string& label : data.labels.text) hash = HashText(hash, label);
  for (const std::string& id : data.ids) hash = HashText(hash, id);
  return hash;
}

}  // namespace kweave
