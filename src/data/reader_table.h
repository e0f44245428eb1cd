// The formats of files by name: how each is recognised and read.
//
// A new one is a file pair, its test and one line of the table in reader_table.cc.
#ifndef KWEAVE_DATA_READER_TABLE_H_
#define KWEAVE_DATA_READER_TABLE_H_

#include <span>
#include <string_view>

#include "data/csv_reader.h"
#include "data/file_bytes.h"
#include "data/table.h"
#include "kweave/dataset.h"

namespace kweave {

/// One line of the table of readers.
struct ReaderRecord {
  std::string_view name;      ///< ReadOptions::format
  std::string_view sentence;  ///< for the documentation
  /// Whether a file is of this format, by its name and its first bytes. The first record that says so reads
  /// it.
  bool (*recognizes)(const FileBytes& file);
  /// The samples of view number `view`.
  Table (*read)(const FileBytes& file, const ReadOptions& options, std::size_t view);
  /// A file that holds labels only.
  Table (*read_labels)(const FileBytes& file, const ReadOptions& options);
  /// How its columns are told apart, where they have names; else null.
  CsvOptions (*columns)(const FileBytes& file, const ReadOptions& options) = nullptr;
};

std::span<const ReaderRecord> ReaderTable();

/// The reader that the options name, or the one that recognises the file.
const ReaderRecord& FindReader(const ReadOptions& options, const FileBytes& file);
/// The one that recognises the file.
const ReaderRecord& DetectReader(const FileBytes& file);

/// Whether records have a description, where `label_column` names what stands before the label.
bool HasDescriptions(const ReaderRecord& reader);

/// Whether samples are joined by row even where files have ids.
bool IgnoresIds(const ReadOptions& options);

/// Whether a column is given by its number.
bool IsColumnNumber(std::string_view column);

}  // namespace kweave

#endif  // KWEAVE_DATA_READER_TABLE_H_
