#include "data/npy_writer.h"

#include <fmt/format.h>

#include "kweave/error.h"

namespace kweave {

NpyWriter::NpyWriter(const std::string& path, Index rows, Index cols)
    : path_(path), file_(path), missing_(rows * cols) {
  constexpr std::size_t kAlignment = 64;   // of the values, as the format asks for
  constexpr std::size_t kBeforeText = 10;  // magic, version and the length of the text
  std::string text =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, cols);
  const std::size_t total = (kBeforeText + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(total - kBeforeText - 1, ' ');
  text += '\n';
  const char length[] = {'\1', '\0', static_cast<char>(text.size() & 255),
                         static_cast<char>(text.size() >> 8)};
  file_.Write("\x93NUMPY");
  file_.Write({length, sizeof length});
  file_.Write(text);
}

void NpyWriter::Append(std::span<const double> values) {
  file_.Write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  missing_ -= static_cast<Index>(values.size());
}

void NpyWriter::Close() {
  if (missing_ != 0)
    throw Error(ErrorKind::kResource, fmt::format("{}: cannot be written: values are missing", path_));
  file_.Commit();
}

}  // namespace kweave
