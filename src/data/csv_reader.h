#ifndef KWEAVE_DATA_CSV_READER_H_
#define KWEAVE_DATA_CSV_READER_H_

#include "data/csv_columns.h"
#include "data/file_bytes.h"
#include "data/table.h"

namespace kweave {

/// Reads delimited text, one sample a record; which column holds labels or ids, and whether there is a
/// header, is told by FindFeatureColumns. All other columns are features: finite decimal numbers, none
/// missing. Where names are expected and there is a header, the columns of these names are the features and
/// further ones are not read. Throws Error(kData) naming line, column (fields counted from 1, with its name),
/// value and what was expected.
Table ReadCsv(const FileBytes& file, const CsvOptions& options);

/// What the columns of a file of features are for, told by its first record.
CsvColumns ReadCsvColumns(const FileBytes& file, const CsvOptions& options);

/// Reads a file of labels: the label column and, if there is one, the id column. Others are ignored.
Table ReadCsvLabels(const FileBytes& file, const CsvOptions& options);

}  // namespace kweave

#endif  // KWEAVE_DATA_CSV_READER_H_
