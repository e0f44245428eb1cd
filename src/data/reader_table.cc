#include "data/reader_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "data/csv_scanner.h"
#include "data/dense_matrix.h"
#include "data/libsvm_reader.h"
#include "data/npy_header.h"
#include "data/npy_reader.h"
#include "data/number.h"
#include "data/sequence_reader.h"
#include "data/text_source.h"
#include "kweave/error.h"
#include "kweave/readers.h"

namespace kweave {
namespace {

bool EndsWith(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         std::ranges::equal(path.substr(path.size() - ending.size()), ending,
                            [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
}

/// Whether the name has this ending, in front of a compression's ending too.
bool HasEnding(const FileBytes& file, std::string_view ending) {
  std::string_view path = file.name;
  for (const std::string_view compression : {".gz", ".zst", ".zstd", ".bz2"}) {
    if (EndsWith(path, compression)) path.remove_suffix(compression.size());
  }
  return EndsWith(path, ending);
}

/// Throws where the first bytes are those of a known format that is not read.
void RefuseOtherFormats(const FileBytes& file) {
  const std::string_view text =
      file.bytes.substr(std::min(file.bytes.find_first_not_of(" \t\r\n"), file.bytes.size()));
  const std::string start = LowerCase(text.substr(0, 16));
  const std::pair<std::string_view, const char*> known[] = {{"par1", "Parquet"},
                                                            {"\x89hdf\r\n", "HDF5"},
                                                            {"@relation", "ARFF"},
                                                            {"{", "JSON"},
                                                            {"[", "JSON"},
                                                            {"%!ps", "PostScript"},
                                                            {"%pdf", "PDF"},
                                                            {"<?xml", "XML"},
                                                            {"<!doctype", "HTML"},
                                                            {"<html", "HTML"},
                                                            {"sqlite format 3", "SQLite"}};
  for (const auto& [magic, name] : known) {
    if (!start.starts_with(magic)) continue;
    throw Error(
        ErrorKind::kData,
        fmt::format(
            "{}: this looks like {}, which is not read, expected CSV, TSV, LIBSVM, NumPy, FASTA or FASTQ",
            file.name, name));
  }
}

/// Whether the first line has fields between commas, semicolons or tabs and none with the colon of
/// index:value.
bool LooksDelimited(const FileBytes& file) {
  const std::string_view text =
      file.bytes.substr(std::min(file.bytes.find_first_not_of(" \r\n"), file.bytes.size()));
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.find_first_of(",;\t") != std::string_view::npos && line.find(':') == std::string_view::npos;
}

Index ExpectedColumns(const ReadOptions& options, std::size_t view) {
  return options.expected_columns.empty() ? 0 : options.expected_columns[view];
}

/// Rows of NaN become rows of zeros. Returns Table::presence.
std::vector<double> TakeEmptyRows(DenseMatrix& matrix) {
  return std::visit(
      []<class T>(DenseRows<T>& rows) {
        std::vector<double> presence(static_cast<std::size_t>(rows.rows), 1.0);
        for (Index i = 0; i < rows.rows; ++i) {
          if (std::ranges::all_of(rows.row(i), [](T value) { return std::isnan(value); }))
            presence[static_cast<std::size_t>(i)] = 0;
        }
        if (std::ranges::find(presence, 0.0) == presence.end()) return std::vector<double>{};
        AlignedVector<T> values(static_cast<std::size_t>(rows.rows * rows.cols));
        for (Index i = 0; i < rows.rows; ++i) {
          if (presence[static_cast<std::size_t>(i)] > 0)
            std::ranges::copy(rows.row(i), values.begin() + i * rows.cols);
        }
        rows = OwnDense(std::move(values), rows.rows, rows.cols);
        return presence;
      },
      matrix);
}

bool IsNpyFile(const FileBytes& file) { return IsNpy(file.bytes); }

Table ReadNpy(const FileBytes& file, const ReadOptions& options, std::size_t view) {
  DenseMatrix matrix = ReadNpyMatrix(file);
  Table table;
  if (options.join == Join::kOuter) table.presence = TakeEmptyRows(matrix);
  CheckFinite(matrix, file.name);
  table.file = file.name;
  table.features = ToFeatures(matrix);
  table.rows = RowCount(table.features);
  const Index cols = ColumnCount(table.features), expected = ExpectedColumns(options, view);
  if (expected > 0 && cols != expected) {
    throw Error(ErrorKind::kData, fmt::format("{}: this file has {} features, expected {} as in training",
                                              file.name, cols, expected));
  }
  return table;
}

Table ReadNpyLabelFile(const FileBytes& file, const ReadOptions&) {
  Table table;
  table.file = file.name;
  table.labels = ReadNpyLabels(file);
  table.rows = static_cast<Index>(table.labels.text.size());
  return table;
}

CsvOptions DelimitedBy(char delimiter, const ReadOptions& options) {
  CsvOptions csv;
  csv.delimiter = delimiter;
  csv.label_column = options.label_column;
  csv.label_separator = options.label_separator;
  csv.allows_empty_rows = options.join == Join::kOuter;
  if (!IgnoresIds(options)) csv.id_column = options.id_column;
  return csv;
}

CsvOptions CsvColumnsOf(const FileBytes& file, const ReadOptions& options) {
  return DelimitedBy(DetectDelimiter(file.bytes), options);
}

CsvOptions TsvColumnsOf(const FileBytes&, const ReadOptions& options) { return DelimitedBy('\t', options); }

/// Says which features have the name of labels: a file that repeats the labels would give them away.
void NoteLabelNames(Table& table) {
  for (const std::string& name : table.feature_names) {
    if (!IsUsualLabelName(name)) continue;
    table.notes.push_back(fmt::format(
        "{}: column {} is a feature, as the labels come from another file; `label_column` {} leaves it out",
        table.file, Quoted(name), name));
  }
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code code;
  return a == b || std::filesystem::equivalent(a, b, code);
}

Table ReadColumns(const FileBytes& file, CsvOptions csv, const ReadOptions& options, std::size_t view) {
  csv.expected_columns = ExpectedColumns(options, view);
  // An index tells the label column of the first view only; in others it would take away a feature.
  if (IsColumnNumber(csv.label_column) && (view > 0 || !options.labels_path.empty()))
    csv.label_column.clear();
  // A column called y may well be a coordinate, so it is taken for the labels only where they are expected.
  const bool holds_labels =
      options.labels_path.empty() ? view == 0 : IsSameFile(options.labels_path, options.views[view].path);
  csv.guesses_labels = holds_labels;
  if (!options.expected_names.empty()) csv.expected_names = options.expected_names[view];
  Table table = ReadCsv(file, csv);
  const bool is_training = options.expected_columns.empty();
  if (!holds_labels && is_training) NoteLabelNames(table);
  return table;
}

template <CsvOptions (*columns)(const FileBytes&, const ReadOptions&)>
Table ReadDelimited(const FileBytes& file, const ReadOptions& options, std::size_t view) {
  return ReadColumns(file, columns(file, options), options, view);
}

template <CsvOptions (*columns)(const FileBytes&, const ReadOptions&)>
Table ReadDelimitedLabels(const FileBytes& file, const ReadOptions& options) {
  return ReadCsvLabels(file, columns(file, options));
}

Table ReadLibsvmView(const FileBytes& file, const ReadOptions& options, std::size_t view) {
  return ReadLibsvm(file, ExpectedColumns(options, view), options.label_separator);
}

template <Table (*read)(const FileBytes&, const SequenceOptions&)>
Table ReadSequences(const FileBytes& file, const ReadOptions& options, std::size_t view) {
  SequenceOptions sequences{options.alphabet, {}, options.label_separator};
  if (view < options.expected_alphabets.size() && !options.expected_alphabets[view].empty()) {
    sequences.alphabet = options.expected_alphabets[view];
  }
  if (!IsColumnNumber(options.label_column)) sequences.label_key = options.label_column;
  return read(file, sequences);
}

template <Table (*read)(const FileBytes&, const SequenceOptions&)>
Table ReadSequenceLabels(const FileBytes& file, const ReadOptions& options) {
  Table table = ReadSequences<read>(file, options, options.views.size());
  if (table.labels.empty()) {
    throw Error(ErrorKind::kData, fmt::format("{}: the records have no labels", file.name));
  }
  table.features = Features();
  return table;
}

/// One label a line; blank lines only at the end.
Table ReadTextLabels(const FileBytes& file, const ReadOptions& options) {
  const TextSource source(file);
  LabelList labels(options.label_separator);
  Table table;
  table.file = file.name;
  const std::string_view text = source.text().substr(0, source.text().find_last_not_of(" \t\r\n") + 1);
  for (std::size_t start = 0; start <= text.size(); ++table.rows) {
    const std::size_t stop = std::min(text.find('\n', start), text.size());
    std::string_view line = text.substr(start, stop - start);
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (!labels.Add(line)) {
      source.FailLine(text.data() + start, NoLabel(line));
    }
    start = stop + 1;
  }
  table.labels = labels.Take();
  return table;
}

std::vector<OptionChoice> Formats() {
  std::vector<OptionChoice> choices;
  for (const ReaderRecord& reader : ReaderTable())
    choices.push_back({std::string(reader.name), std::string(reader.sentence)});
  return choices;
}

}  // namespace

bool IgnoresIds(const ReadOptions& options) { return options.id_column == "none"; }

bool HasDescriptions(const ReaderRecord& reader) { return reader.name == "fasta" || reader.name == "fastq"; }

bool IsColumnNumber(std::string_view column) {
  return !column.empty() && std::ranges::all_of(column, internal::IsDigit);
}

std::span<const ReaderRecord> ReaderTable() {
  static constexpr ReaderRecord table[] = {
      {"npy", "An array of NumPy, known by its first bytes.", IsNpyFile, ReadNpy, ReadNpyLabelFile},
      {"csv", "Comma-separated values, known by the ending .csv or by their first line.",
       [](const FileBytes& file) { return HasEnding(file, ".csv"); }, ReadDelimited<CsvColumnsOf>,
       ReadDelimitedLabels<CsvColumnsOf>, CsvColumnsOf},
      {"tsv", "Values between tabs, known by the ending .tsv.",
       [](const FileBytes& file) { return HasEnding(file, ".tsv"); }, ReadDelimited<TsvColumnsOf>,
       ReadDelimitedLabels<TsvColumnsOf>, TsvColumnsOf},
      {"fasta", "Sequences, each behind a line >ID DESCRIPTION, known by the first character.", IsFasta,
       ReadSequences<ReadFasta>, ReadSequenceLabels<ReadFasta>},
      {"fastq", "Sequences with qualities, which are not used, known by @ and +.", IsFastq,
       ReadSequences<ReadFastq>, ReadSequenceLabels<ReadFastq>},
      {"sequences", "Lines of a label, an id (- for none) and a sequence, known by the first.",
       IsSequenceLines, ReadSequences<ReadSequenceLines>, ReadSequenceLabels<ReadSequenceLines>},
      {"libsvm", "LABEL INDEX:VALUE ...; a file that is none of the others.",
       [](const FileBytes&) { return true; }, ReadLibsvmView, ReadTextLabels},
  };
  return table;
}

const ReaderRecord& FindReader(const ReadOptions& options, const FileBytes& file) {
  for (const ReaderRecord& record : ReaderTable()) {
    if (record.name == options.format) return record;
  }
  RefuseOtherFormats(file);
  const ReaderRecord& reader = DetectReader(file);
  const bool is_last_resort = &reader == &ReaderTable().back();
  return is_last_resort && LooksDelimited(file)
             ? *std::ranges::find(ReaderTable(), "csv", &ReaderRecord::name)
             : reader;
}

const ReaderRecord& DetectReader(const FileBytes& file) {
  return *std::ranges::find_if(ReaderTable(),
                               [&](const ReaderRecord& record) { return record.recognizes(file); });
}

std::span<const OptionRecord<ReadOptions>> ReadOptionRecords() {
  using Record = OptionRecord<ReadOptions>;
  using O = ReadOptions;
  static const std::vector<Record> records = {
      Record("labels_path", &O::labels_path, "file with the labels")
          .Flag("labels")
          .Takes("a file")
          .Unset("those of the first file"),
      Record("label_separator", &O::label_separator, "text between the labels of samples that have several")
          .Takes("any text")
          .Unset("a comma in LIBSVM files, else none"),
      Record(
          "label_column", &O::label_column,
          "CSV: the column with the labels, which must be there; FASTA: what stands before = and the label")
          .Takes("name or number")
          .Unset("one called label, class, target or y"),
      Record("id_column", &O::id_column, "CSV: the column with sample ids; none joins by row")
          .Takes("name or number, none")
          .Unset("one called id, sample or sample_id"),
      Record("alphabet", &O::alphabet, "letters of sequences; others than ambiguity codes are refused")
          .Takes("dna, rna, protein or the letters")
          .Unset("dna or rna where hardly any other letters are there, else protein"),
      Record("confounds_path", &O::confounds_path,
             "file with numbers of every sample to regress out of all features")
          .Flag("confounds")
          .Takes("a file")
          .Unset("none"),
      Record("join", &O::join,
             "which samples there are, where files are joined by id; with outer, rows of empty or NaN fields "
             "are samples without the view, too"),
      Record("format", &O::format, "how the files are written").OneOf(Formats).Unset("detected"),
  };
  return records;
}

}  // namespace kweave
