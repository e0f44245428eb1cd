#ifndef KWEAVE_TESTS_FUZZ_FUZZ_INPUT_H_
#define KWEAVE_TESTS_FUZZ_FUZZ_INPUT_H_

// What the fuzz targets of the readers share. A reader may refuse its input with Error; any other exception,
// a sanitizer's finding or features that contradict themselves end the run.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <variant>

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
