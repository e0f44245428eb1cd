#ifndef KWEAVE_DATA_NPY_WRITER_H_
#define KWEAVE_DATA_NPY_WRITER_H_

#include <span>
#include <string>

#include "kweave/dataset.h"
#include "kweave/output_file.h"

namespace kweave {

/// Writes a float64 matrix as a NumPy file, some rows at a time.
class NpyWriter {
 public:
  /// Throws Error(kResource) when the file cannot be made.
  NpyWriter(const std::string& path, Index rows, Index cols);
  /// The next values, row after row.
  void Append(std::span<const double> values);
  /// Throws Error(kResource) unless everything announced reached the file.
  void Close();

 private:
  std::string path_;
  OutputFile file_;
  Index missing_;  ///< values still to come
};

}  // namespace kweave

#endif  // KWEAVE_DATA_NPY_WRITER_H_
