#ifndef KWEAVE_TESTS_FUZZ_FUZZ_INPUT_H_
#define KWEAVE_TESTS_FUZZ_FUZZ_INPUT_H_

// What the fuzz targets of the readers share. A reader may refuse its input with Error; any other exception,
// a sanitizer's finding or features that contradict themselves end the run.

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/file_bytes.h"
#include "data/table.h"
#include "kweave/error.h"

namespace kweave {

/// The fuzzer's bytes as a file, in a block of exactly their size so that reading past the end is found.
inline FileBytes FuzzFile(const std::uint8_t* data, std::size_t size) {
  auto owner = std::make_shared<const std::vector<char>>(data, data + size);
  return {"input", {owner->data(), owner->size()}, owner, false};
}

/// Ends the run unless `condition` holds.
inline void Require(bool condition) {
  if (!condition) std::abort();
}

/// A file in memory for what takes a path. One object serves all runs: files are not made anew for each.
class FuzzPath {
 public:
  FuzzPath() : descriptor_(::memfd_create("input", MFD_CLOEXEC)) { Require(descriptor_ >= 0); }
  ~FuzzPath() { ::close(descriptor_); }
  FuzzPath(const FuzzPath&) = delete;
  FuzzPath& operator=(const FuzzPath&) = delete;

  /// The path of a file that holds these bytes until the next call.
  std::string Hold(std::string_view bytes) {
    Require(::ftruncate(descriptor_, 0) == 0);
    Require(::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

/// The pieces between separators, of which there are `most` at most; the last holds what is left.
inline std::vector<std::string> FuzzPieces(const std::uint8_t* data, std::size_t size, char separator,
                                           std::size_t most) {
  std::vector<std::string> pieces(1);
  for (std::size_t i = 0; i < size; ++i) {
    const char letter = static_cast<char>(data[i]);
    if (letter == separator && pieces.size() < most) {
      pieces.emplace_back();
    } else {
      pieces.back() += letter;
    }
  }
  return pieces;
}

/// Stands between the files of targets that read several: no text holds it.
constexpr char kFileSeparator = '\x1e';

/// Runs a reader that may throw Error.
template <class Reader>
void AllowErrors(const Reader& reader) {
  try {
    reader();
  } catch (const Error& error) {
    Require(error.what()[0] != '\0');
  }
}

/// Reads every stored value of `features`.
inline void RequireFinite(const Features& features) {
  if (const auto* sparse = std::get_if<SparseRows>(&features)) {
    for (Index e = 0; e < sparse->offsets[sparse->rows]; ++e) {
      Require(std::isfinite(sparse->values[e]) && sparse->columns[e] >= 0 &&
              sparse->columns[e] < sparse->cols);
    }
    return;
  }
  std::vector<double> row(static_cast<std::size_t>(ColumnCount(features)));
  for (Index i = 0; i < RowCount(features); ++i) {
    CopyRow(features, i, row);
    for (const double value : row) Require(std::isfinite(value));
  }
}

/// Checks that the parts of a table fit together.
inline void RequireConsistent(const Table& table) {
  const auto rows = static_cast<std::size_t>(table.rows);
  Require(table.rows > 0);
  Require(table.labels.empty() || table.labels.text.size() == rows);
  Require(table.labels.number.empty() || table.labels.number.size() == rows);
  Require(table.ids.empty() || (table.ids.size() == rows && table.id_lines.size() == rows));
}

}  // namespace kweave

#endif  // KWEAVE_TESTS_FUZZ_FUZZ_INPUT_H_
