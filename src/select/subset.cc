#include "select/subset.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/hash_index.h"
#include "data/matrix_file.h"
#include "data/subset.h"
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

std::uint64_t HashText(std::uint64_t hash, const std::string& text) {
  for (const char c : text) hash = MixHash(hash, static_cast<unsigned char>(c));
  return MixHash(hash, text.size());
}

std::uint64_t HashView(std::uint64_t hash, const View& view) {
  hash = HashText(hash, view.name);
  std::vector<double> row(static_cast<std::size_t>(ColumnCount(view.features)));
  for (Index i = 0; i < RowCount(view.features); ++i) {
    CopyRow(view.features, i, row);
    for (const double value : row) hash = MixHash(hash, std::bit_cast<std::uint64_t>(value));
  }
  for (const double value : view.presence) hash = MixHash(hash, std::bit_cast<std::uint64_t>(value));
  return hash;
}

}  // namespace

Dataset Subset(const Dataset& data, std::span<const Index> rows, std::span<const Index> columns) {
  return SelectSamples(data, rows, columns);
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
        whole.matrices.push_back(ReadGramMatrix(path, data.size));
    }
  }
  return whole;
}

std::uint64_t Fingerprint(const Dataset& data) {
  std::uint64_t hash = static_cast<std::uint64_t>(data.size);
  for (const View& view : data.views) hash = HashView(hash, view);
  if (ColumnCount(data.confounds.features) > 0) hash = HashView(hash, data.confounds);
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
