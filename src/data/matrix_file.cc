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

template <class T>
void CopyRows(const DenseMatrix& matrix, Index first_row, Index count, T* out, Index stride) {
  std::visit(
      [&](const auto& dense) {
        for (Index i = 0; i < count; ++i) {
          std::ranges::transform(dense.row(first_row + i), out + i * stride,
                                 [](auto v) { return static_cast<T>(v); });
        }
      },
      matrix);
}

template <class T>
void CopyPart(const DenseMatrix& matrix, Index row, Index begin, Index end, T* out) {
  std::visit(
      [&](const auto& dense) {
        std::ranges::transform(dense.row(row).subspan(begin, end - begin), out,
                               [](auto v) { return static_cast<T>(v); });
      },
      matrix);
}

}  // namespace

MatrixFile::MatrixFile(std::string name, DenseMatrix matrix, bool is_mapped)
    : name_(std::move(name)), matrix_(std::move(matrix)), is_mapped_(is_mapped) {}

MatrixFile MatrixFile::Open(const std::string& path) { return Parse(OpenFileBytes(path)); }

MatrixFile MatrixFile::Parse(const FileBytes& file) {
  if (!IsNpy(file.bytes)) return {file.name, TextMatrixParser(file).Run(), false};
  DenseMatrix matrix = ReadNpyMatrix(file);
  const bool is_in_place = std::visit([&](const auto& dense) { return dense.owner == file.owner; }, matrix);
  const bool is_mapped = file.is_mapped && is_in_place;
  if (!is_mapped) CheckFinite(matrix, file.name);
  return {file.name, std::move(matrix), is_mapped};
}

Index MatrixFile::rows() const {
  return std::visit([](const auto& dense) { return dense.rows; }, matrix_);
}

Index MatrixFile::cols() const {
  return std::visit([](const auto& dense) { return dense.cols; }, matrix_);
}

void MatrixFile::Rows(Index first_row, Index count, float* out, Index stride) const {
  CopyRows(matrix_, first_row, count, out, stride);
}

void MatrixFile::Rows(Index first_row, Index count, double* out, Index stride) const {
  CopyRows(matrix_, first_row, count, out, stride);
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
      matrix_);
}

}  // namespace kweave
