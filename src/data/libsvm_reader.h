#ifndef KWEAVE_DATA_LIBSVM_READER_H_
#define KWEAVE_DATA_LIBSVM_READER_H_

#include "data/file_bytes.h"
#include "data/table.h"

namespace kweave {

/// Reads LIBSVM (svmlight) text: one sample a line, `label index:value index:value ... # comment`.
///
/// A label is any word without a colon, and either all samples have one or none has. Several labels of a
/// sample stand in one word with commas, or `label_separator`, between them; in such files a line that begins
/// with a blank has none. Indices strictly ascend from 1 to 2^31 - 1; values are finite decimal numbers.
/// Blank lines and comments are skipped, as is `qid:N` before the features. Features are sparse when fewer
/// than one value in 40 is not zero or dense storage would take more than 4 GiB; otherwise dense, as float32
/// where that loses nothing. `expected_columns` > 0 sets their number: values of larger indices are checked,
/// left out and said in a note. Throws Error(kData) naming line, column (in bytes, from 1), value and what
/// was expected.
Table ReadLibsvm(const FileBytes& file, Index expected_columns = 0, const std::string& label_separator = {});

}  // namespace kweave

#endif  // KWEAVE_DATA_LIBSVM_READER_H_
