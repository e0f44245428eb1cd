#include "data/matrix_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "data/npy_header.h"
#include "data/npy_reader.h"
#include "data/number.h"
#include "data/text_source.h"
#include "kweave/error.h"

namespace kweave {
namespace {

/// Numbers separated by blanks or one comma each; lines without numbers and comments after '#' are skipped.
class TextMatrixParser {
 public:
  explicit TextMatrixParser(const FileBytes& file) : source_(file) {}

  DenseMatrix Run() {
    for (const char* p = source_.begin(); p != source_.end();) {
      p = Line(p);
      if (p != source_.end()) ++p;
    }
    if (rows_ == 0)
      throw Error(ErrorKind::kData, fmt::format("{}: this file holds no numbers", source_.name()));
    return CompactDense(std::move(values_), rows_, cols_, fits_float32_);
  }

 private:
  /// Reads up to the end of the line and returns that.
  const char* Line(const char* p) {
    const char* const line = p;
    Index count = 0;
    p = SkipBlanks(p);
    while (!IsLineEnd(p)) {
      p = SkipBlanks(Value(p));
      ++count;
      if (p != source_.end() && *p == ',') {
        p = SkipBlanks(p + 1);
        if (IsLineEnd(p)) source_.FailAt(p, "a value is missing after the comma");
      }
    }
    if (count > 0 && rows_ > 0 && count != cols_) {
      source_.FailLine(line, fmt::format("{} values, expected {} as on the lines before", count, cols_));
    }
    if (count > 0) {
      cols_ = count;
      ++rows_;
    }
    return std::find(p, source_.end(), '\n');
  }

  const char* Value(const char* p) {
    double value = 0;
    const char* const end = ParseNumber(p, source_.end(), value);
    const bool is_whole =
        end != p && (IsLineEnd(end) || *end == ' ' || *end == '\t' || *end == '\r' || *end == ',');
    if (!is_whole || std::isinf(value)) {
      source_.FailAt(p, fmt::format("found {}, expected a finite number", Quoted(TokenAt(p, source_.end()))));
    }
    fits_float32_ = fits_float32_ && FitsFloat32(value);
    values_.push_back(value);
    return end;
  }

  const char* SkipBlanks(const char* p) const {
    while (p != source_.end() && (*p == ' ' || *p == '\t' || *p == '\r')) ++p;
    return p;
  }
  bool IsLineEnd(const char* p) const { return p == source_.end() || *p == '\n' || *p == '#'; }

  TextSource source_;
  AlignedVector<double> values_;
  Index rows_ = 0;
  Index cols_ = 0;
  bool fits_float32_ = true;
};

Index At(const std::vector<Index>& indices, Index i) { return indices.empty() ? i : indices[i]; }

template <class T>
void CopyPart(const GramMatrix& matrix, Index row, Index begin, Index end, T* out) {
  std::visit(
      [&](const auto& dense) {
        const auto* const values = dense.data + At(matrix.row_indices, row) * dense.stride;
        const auto convert = [](auto v) { return static_cast<T>(v); };
        if (matrix.column_stride != 1) {
          for (Index j = begin; j < end; ++j) {
            out[j - begin] = convert(values[At(matrix.column_indices, j) * matrix.column_stride]);
          }
        } else if (matrix.column_indices.empty()) {
          std::transform(values + begin, values + end, out, convert);
        } else {
          const Index* const columns = matrix.column_indices.data();
          std::transform(columns + begin, columns + end, out, [&](Index j) { return convert(values[j]); });
        }
      },
      matrix.values);
}

/// Indices that say no more than their absence: reading is faster without.
void ForgetIfAll(std::vector<Index>& indices, Index count) {
  if (static_cast<Index>(indices.size()) != count) return;
  for (Index i = 0; i < count; ++i) {
    if (indices[i] != i) return;
  }
  indices.clear();
}

void CheckIndices(const GramMatrix& matrix, const std::vector<Index>& indices, Index count,
                  const char* what) {
  const auto outside = std::ranges::find_if(indices, [count](Index i) { return i < 0 || i >= count; });
  if (outside == indices.end()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("matrix '{}': there is no {} {}, it has {}", matrix.name, what, *outside, count));
}

}  // namespace

MatrixFile::MatrixFile(GramMatrix matrix, bool is_mapped)
    : matrix_(std::move(matrix)), is_mapped_(is_mapped) {}

MatrixFile MatrixFile::Open(const std::string& path) { return Parse(OpenFileBytes(path)); }

MatrixFile MatrixFile::Wrap(const GramMatrix& matrix) {
  std::visit(
      [&](const auto& dense) {
        CheckIndices(matrix, matrix.row_indices, dense.rows, "row");
        CheckIndices(matrix, matrix.column_indices, dense.cols, "column");
      },
      matrix.values);
  MatrixFile wrapped(matrix, false);
  std::visit(
      [&](const auto& dense) {
        ForgetIfAll(wrapped.matrix_.row_indices, dense.rows);
        ForgetIfAll(wrapped.matrix_.column_indices, dense.cols);
      },
      matrix.values);
  const auto has_all = [](const std::vector<Index>& numbers, Index count) {
    return numbers.empty() || static_cast<Index>(numbers.size()) == count;
  };
  if (!has_all(matrix.row_numbers, wrapped.rows()) || !has_all(matrix.column_numbers, wrapped.cols())) {
    throw Error(ErrorKind::kUsage,
                fmt::format("matrix '{}': expected a number for every row and column, or none", matrix.name));
  }
  return wrapped;
}

MatrixFile MatrixFile::Parse(const FileBytes& file) {
  if (!IsNpy(file.bytes)) return {{file.name, TextMatrixParser(file).Run()}, false};
  DenseMatrix matrix = ReadNpyMatrix(file);
  const bool is_in_place = std::visit([&](const auto& dense) { return dense.owner == file.owner; }, matrix);
  const bool is_mapped = file.is_mapped && is_in_place;
  if (!is_mapped) CheckFinite(matrix, file.name);
  return {{file.name, std::move(matrix)}, is_mapped};
}

// Rows of one block may lie anywhere in the file, so pages cannot be given back block by block.
MatrixFile MatrixFile::Reordered(std::span<const Index> order) const {
  GramMatrix matrix = matrix_;
  matrix.row_indices.clear();
  matrix.column_indices.clear();
  matrix.row_numbers.clear();
  matrix.column_numbers.clear();
  for (const Index i : order) {
    matrix.row_indices.push_back(At(matrix_.row_indices, i));
    matrix.column_indices.push_back(At(matrix_.column_indices, i));
    matrix.row_numbers.push_back(RowNumber(i));
    matrix.column_numbers.push_back(ColumnNumber(i));
  }
  return {std::move(matrix), false};
}

Index MatrixFile::RowNumber(Index i) const {
  return matrix_.row_numbers.empty() ? At(matrix_.row_indices, i) + 1 : matrix_.row_numbers[i];
}

Index MatrixFile::ColumnNumber(Index j) const {
  return matrix_.column_numbers.empty() ? At(matrix_.column_indices, j) + 1 : matrix_.column_numbers[j];
}

Index MatrixFile::rows() const {
  if (!matrix_.row_indices.empty()) return static_cast<Index>(matrix_.row_indices.size());
  return std::visit([](const auto& dense) { return dense.rows; }, matrix_.values);
}

Index MatrixFile::cols() const {
  if (!matrix_.column_indices.empty()) return static_cast<Index>(matrix_.column_indices.size());
  return std::visit([](const auto& dense) { return dense.cols; }, matrix_.values);
}

void MatrixFile::Rows(Index first_row, Index count, float* out, Index stride) const {
  for (Index i = 0; i < count; ++i) CopyPart(matrix_, first_row + i, 0, cols(), out + i * stride);
}

void MatrixFile::Rows(Index first_row, Index count, double* out, Index stride) const {
  for (Index i = 0; i < count; ++i) CopyPart(matrix_, first_row + i, 0, cols(), out + i * stride);
}

void MatrixFile::RowPart(Index row, Index begin, Index end, float* out) const {
  CopyPart(matrix_, row, begin, end, out);
}

void MatrixFile::RowPart(Index row, Index begin, Index end, double* out) const {
  CopyPart(matrix_, row, begin, end, out);
}

void MatrixFile::Release(Index first_row, Index count) const {
  if (!is_mapped_ || count == 0) return;
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::visit(
      [&](const auto& dense) {
        const auto begin = reinterpret_cast<std::uintptr_t>(dense.row(first_row).data()) & ~(page_bytes - 1);
        const auto end = reinterpret_cast<std::uintptr_t>(dense.data + (first_row + count) * dense.stride);
        ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
      },
      matrix_.values);
}

}  // namespace kweave
