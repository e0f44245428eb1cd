#ifndef KWEAVE_DATA_NPY_READER_H_
#define KWEAVE_DATA_NPY_READER_H_

#include "data/dense_matrix.h"
#include "data/file_bytes.h"
#include "kweave/dataset.h"

namespace kweave {

/// A NumPy array of one (n x 1) or two dimensions. Float32 and float64 in C order stay where they are,
/// without a copy
/// (`file.owner` is kept); everything else is converted, to float32 where that loses nothing. Values are not
/// checked. Throws Error(kData) on a bad header, a wrong size, text, or an array without rows or columns.
DenseMatrix ReadNpyMatrix(const FileBytes& file);

/// A one-dimensional (or n x 1) NumPy array of numbers or strings as labels.
Labels ReadNpyLabels(const FileBytes& file);

}  // namespace kweave

#endif  // KWEAVE_DATA_NPY_READER_H_
