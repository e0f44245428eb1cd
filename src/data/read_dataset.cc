// Which reader takes which file, and what the files together must provide. The readers are libsvm_reader,
// csv_reader and npy_reader; join.cc brings their tables into one order.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "data/csv_reader.h"
#include "data/csv_scanner.h"
#include "data/file_bytes.h"
#include "data/join.h"
#include "data/libsvm_reader.h"
#include "data/npy_header.h"
#include "data/npy_reader.h"
#include "data/text_source.h"
#include "kweave/dataset.h"
#include "kweave/error.h"

namespace kweave {
namespace {

constexpr std::array<std::string_view, 4> kFormats = {"libsvm", "csv", "tsv", "npy"};

bool EndsWith(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         std::ranges::equal(path.substr(path.size() - ending.size()), ending,
                            [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
}

/// "csv" or "tsv" by the ending of the name, in front of a compression's ending too.
std::string FormatByName(std::string_view path) {
  for (const std::string_view compression : {".gz", ".zst", ".zstd"}) {
    if (EndsWith(path, compression)) path.remove_suffix(compression.size());
  }
  if (EndsWith(path, ".csv")) return "csv";
  return EndsWith(path, ".tsv") ? "tsv" : "";
}

/// NumPy by its magic bytes, CSV and TSV by ending, FASTA by '>', everything else LIBSVM.
std::string DetectFormat(const FileBytes& file) {
  if (IsNpy(file.bytes)) return "npy";
  if (const std::string by_name = FormatByName(file.name); !by_name.empty()) return by_name;
  if (file.bytes.starts_with('>')) {
    throw Error(
        ErrorKind::kData,
        fmt::format("{}: this looks like FASTA, but kernels on sequences are not supported yet", file.name));
  }
  return "libsvm";
}

std::string FormatOf(const ReadOptions& options, const FileBytes& file) {
  return options.format.empty() ? DetectFormat(file) : options.format;
}

/// Whether samples are joined by row even where files have ids.
bool IgnoresIds(const ReadOptions& options) { return options.id_column == "none"; }

CsvOptions MakeCsvOptions(const ReadOptions& options, const FileBytes& file, const std::string& format) {
  CsvOptions csv;
  csv.delimiter = format == "tsv" ? '\t' : DetectDelimiter(file.bytes);
  csv.label_column = options.label_column;
  csv.label_separator = options.label_separator;
  if (!IgnoresIds(options)) csv.id_column = options.id_column;
  return csv;
}

bool IsNumber(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, internal::IsDigit);
}

Table ReadNpy(const FileBytes& file, Index expected_columns) {
  const DenseMatrix matrix = ReadNpyMatrix(file);
  CheckFinite(matrix, file.name);
  Table table;
  table.file = file.name;
  table.features = ToFeatures(matrix);
  table.rows = RowCount(table.features);
  const Index cols = ColumnCount(table.features);
  if (expected_columns > 0 && cols != expected_columns) {
    throw Error(ErrorKind::kData, fmt::format("{}: this file has {} features, expected {} as in training",
                                              file.name, cols, expected_columns));
  }
  return table;
}

/// Says which features have the name of labels: a file that repeats the labels would give them away.
void NoteLabelNames(Table& table) {
  for (const std::string& name : table.feature_names) {
    if (!IsUsualLabelName(name)) continue;
    table.notes.push_back(fmt::format(
        "{}: column {} is a feature, as the labels come from another file; --label-column {} leaves it out",
        table.file, Quoted(name), name));
  }
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code code;
  return a == b || std::filesystem::equivalent(a, b, code);
}

/// The files of the views, each opened when it is first needed and once only, as it may be a pipe.
class ViewFiles {
 public:
  explicit ViewFiles(const std::vector<ViewSource>& views) : views_(views), files_(views.size()) {}

  const FileBytes& Open(std::size_t view) {
    if (!files_[view]) files_[view] = OpenFileBytes(views_[view].path);
    return *files_[view];
  }
  FileBytes Take(std::size_t view) {
    Open(view);
    return *std::exchange(files_[view], std::nullopt);
  }

 private:
  const std::vector<ViewSource>& views_;
  std::vector<std::optional<FileBytes>> files_;
};

/// A label column that is asked for must be there: one given by name in some file, one given by index in the first.
/// Its reader looks into a CSV file of labels and at an index.
void CheckLabelColumn(const ReadOptions& options, ViewFiles& files) {
  const std::string& column = options.label_column;
  const bool is_name = !IsNumber(column);
  if (column.empty() || !FormatByName(options.labels_path).empty()) return;
  if (!is_name && !options.labels_path.empty()) return;
  std::vector<std::string> paths, names;
  for (std::size_t view = 0; view < (is_name ? options.views.size() : 1); ++view) {
    const FileBytes& file = files.Open(view);
    const std::string format = FormatOf(options, file);
    if (format != "csv" && format != "tsv") continue;
    CsvColumns columns = ReadCsvColumns(file, MakeCsvOptions(options, file, format));
    if (columns.label) return;
    paths.push_back(file.name);
    std::ranges::move(columns.names, std::back_inserter(names));
  }
  throw Error(ErrorKind::kData,
              paths.empty()
                  ? fmt::format("{}: --label-column {} needs columns, expected a CSV or TSV file",
                                options.views.empty() ? options.labels_path : options.views[0].path, column)
                  : fmt::format("{}: {}", fmt::join(paths, ", "), NoColumn("column", column, names)));
}

Table ReadView(const ReadOptions& options, std::size_t view, const FileBytes& file) {
  const std::string format = FormatOf(options, file);
  const Index expected_columns = options.expected_columns.empty() ? 0 : options.expected_columns[view];
  if (format == "libsvm") return ReadLibsvm(file, expected_columns, options.label_separator);
  if (format == "npy") return ReadNpy(file, expected_columns);
  CsvOptions csv = MakeCsvOptions(options, file, format);
  csv.expected_columns = expected_columns;
  // An index tells the label column of the first view only; in others it would take away a feature.
  if (IsNumber(csv.label_column) && (view > 0 || !options.labels_path.empty())) csv.label_column.clear();
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

/// One label a line; blank lines only at the end.
Table ReadTextLabels(const FileBytes& file, const std::string& label_separator) {
  const TextSource source(file);
  LabelList labels(label_separator);
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

Table ReadLabelFile(const ReadOptions& options) {
  const FileBytes file = OpenFileBytes(options.labels_path);
  if (IsNpy(file.bytes)) {
    Table table;
    table.file = file.name;
    table.labels = ReadNpyLabels(file);
    table.rows = static_cast<Index>(table.labels.text.size());
    return table;
  }
  const std::string format = FormatByName(file.name);
  return format.empty() ? ReadTextLabels(file, options.label_separator)
                        : ReadCsvLabels(file, MakeCsvOptions(options, file, format));
}

void CheckOptions(const ReadOptions& options) {
  const auto fail = [](const std::string& sentence) { throw Error(ErrorKind::kUsage, sentence); };
  if (options.views.empty() && options.labels_path.empty())
    fail("there is no data to read, expected at least one view");
  if (!options.format.empty() && std::ranges::find(kFormats, options.format) == kFormats.end()) {
    fail(fmt::format("format {} is unknown, expected one of {}", Quoted(options.format),
                     fmt::join(kFormats, ", ")));
  }
  for (const std::size_t expected : {options.expected_columns.size(), options.expected_names.size()}) {
    if (expected == 0 || expected == options.views.size()) continue;
    fail(fmt::format("{} views are given, expected {} as in training", options.views.size(), expected));
  }
  for (auto view = options.views.begin(); view != options.views.end(); ++view) {
    const auto is_same = [&](const ViewSource& other) { return other.name == view->name; };
    if (std::any_of(options.views.begin(), view, is_same)) {
      fail(fmt::format("two views are called {}, expected different names", Quoted(view->name)));
    }
  }
}

[[noreturn]] void FailWithoutLabels(const ReadOptions& options) {
  throw Error(
      ErrorKind::kData,
      fmt::format(
          "{}: there are no labels, expected one in front of each sample (LIBSVM), a column called "
          "label, class, target or y, or given by --label-column (CSV), or a file of labels (--labels)",
          options.views[0].path));
}

}  // namespace

Dataset ReadDataset(const ReadOptions& options) {
  CheckOptions(options);
  ViewFiles files(options.views);
  CheckLabelColumn(options, files);
  std::vector<std::string> names;
  std::vector<Table> tables;
  for (std::size_t view = 0; view < options.views.size(); ++view) {
    names.push_back(options.views[view].name);
    tables.push_back(ReadView(options, view, files.Take(view)));
  }
  std::optional<Table> labels;
  if (!options.labels_path.empty()) labels = ReadLabelFile(options);
  std::vector<std::string> notes;
  for (Table& table : tables) {
    if (IgnoresIds(options)) table.ids.clear();
    std::ranges::move(table.notes, std::back_inserter(notes));
  }
  if (labels && IgnoresIds(options)) labels->ids.clear();
  Dataset dataset = JoinTables(names, std::move(tables), std::move(labels));
  if (options.labels_required && dataset.labels.empty()) FailWithoutLabels(options);
  for (const std::string& note : notes) {
    if (options.log) options.log(LogLevel::kNote, note);
  }
  return dataset;
}

}  // namespace kweave
