// What the files together must provide. reader_table.cc says which reader takes which file, join.cc brings
// their tables into one order.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "data/file_bytes.h"
#include "data/join.h"
#include "data/label_key.h"
#include "data/reader_table.h"
#include "data/sequences.h"
#include "data/text_source.h"
#include "kweave/dataset.h"
#include "kweave/error.h"
#include "kweave/readers.h"

namespace kweave {
namespace {

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

/// A label column that is asked for must be there: one given by name in some file, one given by index in the
/// first. Its reader looks into a CSV file of labels and at an index.
void CheckLabelColumn(const ReadOptions& options, const ReaderRecord* label_reader, ViewFiles& files) {
  const std::string& column = options.label_column;
  const bool is_name = !IsColumnNumber(column);
  if (column.empty()) return;
  if (label_reader != nullptr && label_reader->columns != nullptr) return;
  if (!is_name && !options.labels_path.empty()) return;
  std::vector<std::string> paths, names;
  for (std::size_t view = 0; view < (is_name ? options.views.size() : 1); ++view) {
    const FileBytes& file = files.Open(view);
    const ReaderRecord& reader = FindReader(options, file);
    if (HasDescriptions(reader) && is_name) return;  // each record must have it, which its reader checks
    if (reader.columns == nullptr) continue;
    CsvColumns columns = ReadCsvColumns(file, reader.columns(file, options));
    if (columns.label) return;
    paths.push_back(file.name);
    std::ranges::move(columns.names, std::back_inserter(names));
  }
  const ErrorDetail detail = {"label_column", column, "a column of a CSV or TSV file"};
  if (!paths.empty()) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: {}", fmt::join(paths, ", "), NoColumn("column", column, names)), detail);
  }
  throw Error(ErrorKind::kData,
              fmt::format("{}: `label_column` {} needs columns, expected a CSV or TSV file",
                          options.views.empty() ? options.labels_path : options.views[0].path, column),
              detail);
}

void CheckOptions(const ReadOptions& options) {
  const auto fail = [](const std::string& sentence) { throw Error(ErrorKind::kUsage, sentence); };
  if (options.views.empty() && options.labels_path.empty())
    fail("there is no data to read, expected at least one view");
  for (const OptionRecord<ReadOptions>& record : ReadOptionRecords()) {
    if (record.get(options) != record.fallback) record.Check(options);
  }
  const auto is_input = [](const ViewSource& view) { return view.path == "-"; };
  if (std::ranges::count_if(options.views, is_input) + (options.labels_path == "-" ? 1 : 0) > 1) {
    fail("standard input (-) is named twice, and can be read once");
  }
  for (const std::size_t expected :
       {options.expected_columns.size(), options.expected_names.size(), options.expected_alphabets.size()}) {
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
          "label, class, target or y, or given by `label_column` (CSV), label= in the description of each "
          "sequence (FASTA), or a file of labels (`labels_path`)",
          options.views[0].path),
      {"label_column", options.label_column, "a column or file with labels"});
}

}  // namespace

namespace {

struct Account {
  std::vector<std::string> columns;   ///< of every view, then of the file of labels if there is one
  std::vector<std::string> left_out;  ///< sentences about rows that are not used
};

/// How many samples have which label; of many different numbers their range.
std::string LabelText(const Labels& labels) {
  constexpr std::size_t kNamed = 10;  // as many as stay readable on a line
  std::map<std::string, std::pair<std::string_view, Index>> count_of;
  for (const std::string& text : labels.text) {
    auto& [name, count] = count_of.try_emplace(LabelKey(text), text, 0).first->second;
    ++count;
  }
  if (count_of.size() > kNamed && labels.is_numeric()) {
    const auto [least, most] = std::ranges::minmax(labels.number);
    return fmt::format("{} different labels from {} to {}", count_of.size(), least, most);
  }
  std::string text;
  std::size_t named = 0;
  for (const auto& [key, entry] : count_of) {
    if (named++ == kNamed) break;
    text += fmt::format("{} {} ({})", text.empty() ? "labels" : ",", Quoted(entry.first), entry.second);
  }
  return count_of.size() > kNamed ? fmt::format("{} and {} more", text, count_of.size() - kNamed) : text;
}

std::string ToText(const Account& account, const Dataset& data, const ReadOptions& options) {
  std::string text = fmt::format("read {} sample{}", data.size, data.size == 1 ? "" : "s");
  for (std::size_t v = 0; v < account.columns.size(); ++v) {
    const bool is_view = v < data.views.size();
    const std::string& columns = account.columns[v];
    const std::string origin = fmt::format("{}{}", is_view ? options.views[v].path : options.labels_path,
                                           columns.empty() ? "" : fmt::format(" ({})", columns));
    if (!is_view) {
      text += fmt::format("; labels from {}", origin);
      continue;
    }
    const Index features = ColumnCount(data.views[v].features);
    const bool is_letters = AsSequences(data.views[v].features) != nullptr;
    text += fmt::format("; view {} from {}: {}{} {}{}", Quoted(data.views[v].name), origin,
                        is_letters ? "sequences of up to " : "", features, is_letters ? "letter" : "feature",
                        features == 1 ? "" : "s");
  }
  for (const std::string& sentence : account.left_out) text += "; " + sentence;
  return text + "; " + (data.labels.empty() ? "no labels" : LabelText(data.labels));
}

/// All columns but ids are confounds, whatever their names, and none may be empty.
Table ReadConfounds(const ReadOptions& options) {
  ReadOptions own = options;
  own.views = {{"confounds", options.confounds_path}};
  own.labels_path = options.confounds_path == "-" ? "" : "-";  // labels are elsewhere
  own.label_column.clear();
  own.format.clear();
  own.alphabet.clear();
  own.expected_alphabets.clear();
  own.join = Join::kFirst;
  own.expected_columns = {static_cast<Index>(options.expected_confounds.size())};
  own.expected_names = {options.expected_confounds};
  const FileBytes file = OpenFileBytes(options.confounds_path);
  return FindReader(own, file).read(file, own, 0);
}

Dataset ReadAndJoin(const ReadOptions& options, Account& account) {
  CheckOptions(options);
  ViewFiles files(options.views);
  std::optional<FileBytes> label_file;
  if (!options.labels_path.empty()) label_file = OpenFileBytes(options.labels_path);
  const ReaderRecord* label_reader = label_file ? &DetectReader(*label_file) : nullptr;
  CheckLabelColumn(options, label_reader, files);
  JoinRequest request{.join = options.join, .labels_required = options.labels_required};
  std::vector<Table>& tables = request.views;
  for (std::size_t view = 0; view < options.views.size(); ++view) {
    request.view_names.push_back(options.views[view].name);
    const FileBytes file = files.Take(view);
    tables.push_back(FindReader(options, file).read(file, options, view));
  }
  std::optional<Table>& labels = request.labels;
  if (label_file) labels = label_reader->read_labels(*label_file, options);
  if (!options.confounds_path.empty()) request.confounds = ReadConfounds(options);
  std::vector<std::string> notes;
  for (Table& table : tables) {
    if (IgnoresIds(options)) table.ids.clear();
    std::ranges::move(table.notes, std::back_inserter(notes));
  }
  if (labels && IgnoresIds(options)) labels->ids.clear();
  if (request.confounds && IgnoresIds(options)) request.confounds->ids.clear();
  for (const Table& table : tables) account.columns.push_back(table.columns);
  if (labels) account.columns.push_back(labels->columns);
  Dataset dataset = JoinTables(std::move(request), account.left_out);
  if (options.labels_required && dataset.labels.empty()) FailWithoutLabels(options);
  for (const std::string& note : notes) {
    if (options.log) options.log(LogLevel::kNote, note);
  }
  return dataset;
}

}  // namespace

Dataset ReadDataset(const ReadOptions& options) {
  Account account;
  Dataset dataset = ReadAndJoin(options, account);
  for (const std::string& sentence : account.left_out) {
    if (options.log) options.log(LogLevel::kNote, sentence);
  }
  return dataset;
}

Dataset ReadDataset(const ReadOptions& options, std::string& account) {
  Account files;
  Dataset dataset = ReadAndJoin(options, files);
  account = ToText(files, dataset, options);
  return dataset;
}

}  // namespace kweave
