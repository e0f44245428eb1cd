#include "data/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "data/csv_scanner.h"
#include "data/dense_matrix.h"
#include "kweave/error.h"

namespace kweave {
namespace {

/// Thrown when a first record that was taken for a header, as it holds the usual name of labels, turns out to
/// be a sample: the name is a label of further samples.
struct HeaderIsSample {
  Index label;  ///< the column
};

/// Whether a name is one that tools give to a column of row numbers or people to one of ids.
bool LooksLikeIds(std::string_view column) {
  const std::string lower = LowerCase(column);
  return lower.ends_with("_id") || lower.ends_with(" id") || lower.starts_with("unnamed: ") ||
         lower == "index";
}

enum class Role : char { kFeature, kLabel, kId, kIgnored };

class CsvParser {
 public:
  CsvParser(const FileBytes& file, char delimiter) : scanner_(file, delimiter) {}

  Table ReadFeatures(const CsvOptions& options) {
    std::vector<std::string> first = FirstRecord();
    AssignRoles(FindFeatureColumns(std::move(first), options, name()), Role::kFeature);
    guesses_labels_ = options.guesses_labels;
    allows_empty_rows_ = options.allows_empty_rows;
    lacks_labels_ = guesses_labels_ && options.label_column.empty() && !columns_.label;
    labels_.SetSeparator(options.label_separator);
    const bool is_matched_by_name = columns_.has_header && !options.expected_names.empty();
    if (is_matched_by_name) KeepExpected(options.expected_names);
    const Index features = std::ranges::count(roles_, Role::kFeature);
    if (features == 0) Fail("there is no column of features");
    if (options.expected_columns > 0 && features != options.expected_columns && !is_matched_by_name) {
      Fail(fmt::format("this file has {} features, expected {} as in training", features,
                       options.expected_columns));
    }
    ReserveValues(features);
    ReadRecords();
    Table table = TakeTable();
    table.presence = std::move(presence_);
    table.features = ToFeatures(CompactDense(std::move(values_), rows_, features, fits_float32_));
    for (Index column = 0; column < Count() && columns_.has_header; ++column) {
      if (RoleOf(column) == Role::kFeature) table.feature_names.emplace_back(columns_.name(column));
    }
    for (const std::string& feature : table.feature_names) {
      if (!LooksLikeIds(feature) || options.expected_columns > 0) continue;
      table.notes.push_back(
          fmt::format("{}: column {} is a feature; if it holds sample ids, `id_column` '{}' says so", name(),
                      Quoted(feature), feature));
    }
    return table;
  }

  Table ReadLabels(const CsvOptions& options) {
    labels_.SetSeparator(options.label_separator);
    std::vector<std::string> first = FirstRecord();
    AssignRoles(FindLabelColumns(std::move(first), options, name()), Role::kIgnored);
    ReadRecords();
    return TakeTable();
  }

 private:
  const std::string& name() const { return scanner_.source().name(); }
  Index Count() const { return static_cast<Index>(roles_.size()); }
  Role RoleOf(Index column) const { return roles_[static_cast<std::size_t>(column)]; }

  std::vector<std::string> FirstRecord() {
    scanner_.NextRecord();
    std::vector<std::string> fields = scanner_.ReadFields();
    roles_.resize(fields.size());
    return fields;
  }

  void AssignRoles(CsvColumns columns, Role others) {
    columns_ = std::move(columns);
    std::ranges::fill(roles_, others);
    if (columns_.label) roles_[static_cast<std::size_t>(*columns_.label)] = Role::kLabel;
    if (columns_.id) roles_[static_cast<std::size_t>(*columns_.id)] = Role::kId;
    if (!columns_.has_header) scanner_.Rewind();
  }

  /// Leaves out the features that were not there in training.
  void KeepExpected(const std::vector<std::string>& expected) {
    std::unordered_set<std::string_view> missing(expected.begin(), expected.end());
    const std::unordered_set<std::string_view> known = missing;
    for (Index column = 0; column < Count(); ++column) {
      if (RoleOf(column) != Role::kFeature) continue;
      missing.erase(columns_.name(column));
      if (!known.contains(columns_.name(column))) roles_[static_cast<std::size_t>(column)] = Role::kIgnored;
    }
    const auto first =
        std::ranges::find_if(expected, [&](const auto& name) { return missing.contains(name); });
    if (first == expected.end()) return;
    const std::string others = missing.size() > 1 ? fmt::format(" (and {} more)", missing.size() - 1) : "";
    Fail(fmt::format("there is no column called {}{}, a feature in training", Quoted(*first), others));
  }

  /// Whether a column of features has the usual name of labels although none are looked for.
  bool IsLabelLike(Index column) const {
    return !guesses_labels_ && columns_.has_header && IsUsualLabelName(columns_.name(column));
  }

  /// The option that selects this column as labels: its name, or its number where the name is not a plain
  /// word or the names may be values of a file without a header.
  std::string LabelColumnFlag(Index column) const {
    const auto is_plain = [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
    };
    const std::string_view name = columns_.name(column);
    const bool is_word = !name.empty() && name[0] != '-' && std::ranges::all_of(name, is_plain);
    const bool is_name = is_word && std::ranges::none_of(columns_.names, [](const std::string& other) {
                           return ToNumber(other).has_value();
                         });
    return fmt::format("`label_column` {}", is_name ? std::string(name) : std::to_string(column + 1));
  }

  /// Room for all values at once; each takes at least a digit and a separator, whatever the header promises.
  void ReserveValues(Index features) {
    const std::string_view text = scanner_.source().text();
    const Index lines = 1 + std::ranges::count(text, '\n');
    values_.reserve(std::min(text.size() / 2 + 1, static_cast<std::size_t>(lines * features)));
  }

  void ReadRecords() {
    while (scanner_.NextRecord()) {
      Index column = 0;
      do {
        if (column == Count()) FailFieldCount();
        ReadField(column++);
      } while (scanner_.NextField());
      if (column != Count()) FailFieldCount();
      if (empty_fields_ > 0) EndRowWithEmptyFields();
      if (!presence_.empty()) presence_.resize(static_cast<std::size_t>(rows_) + 1, 1.0);
      ++rows_;
    }
    if (rows_ == 0) Fail("there is no sample after the header");
  }

  void ReadField(Index column) {
    switch (RoleOf(column)) {
      case Role::kFeature: {
        double value = 0;
        if (!scanner_.ReadNumber(value)) value = ReadOddNumber(column);
        fits_float32_ = fits_float32_ && FitsFloat32(value);
        values_.push_back(value);
        break;
      }
      case Role::kLabel:
        ReadLabel(column);
        break;
      case Role::kId:
        ReadId(column);
        break;
      case Role::kIgnored:
        scanner_.ReadText();
        break;
    }
  }

  /// A sample lacks all features or none.
  void EndRowWithEmptyFields() {
    const Index features = std::ranges::count(roles_, Role::kFeature);
    if (empty_fields_ < features) {
      FailField(
          first_empty_.position, first_empty_.column,
          "a value is missing in a row that has others: expected a finite number (a row of empty fields "
          "alone is a sample without this view)");
    }
    presence_.resize(static_cast<std::size_t>(rows_), 1.0);
    presence_.push_back(0);
    empty_fields_ = 0;
  }

  /// A number in quotes, a mark of a missing value where a row may be empty, or an error.
  double ReadOddNumber(Index column) {
    const char* const position = scanner_.field();
    const std::string_view text = scanner_.ReadText();
    const std::optional<double> value = ToNumber(text);
    if (value && std::isfinite(*value)) return *value;
    if (allows_empty_rows_ && IsMissingMark(text)) {
      if (empty_fields_++ == 0) first_empty_ = {position, column};
      return 0;
    }
    std::string sentence = fmt::format("{}found {}, expected a finite number",
                                       IsMissingMark(text) ? "a value is missing: " : "", Quoted(text));
    if (IsLabelLike(column)) {
      sentence +=
          fmt::format(" (the labels come from another file; `label_column` {} leaves this column out)",
                      columns_.name(column));
    } else if (lacks_labels_ && !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
               !IsMissingMark(text) && !IsNanOrInfinity(text)) {
      sentence += fmt::format(" (if this column holds the labels, {} says so)", LabelColumnFlag(column));
    } else if (!columns_.id && !IsMissingMark(text) && !IsNanOrInfinity(text) && columns_.has_header) {
      sentence +=
          fmt::format(" (if this column holds sample ids, `id_column` {} says so)", columns_.name(column));
    }
    FailField(position, column, sentence);
  }

  void ReadLabel(Index column) {
    const char* const position = scanner_.field();
    const std::string_view text = scanner_.ReadText();
    if (columns_.is_label_guessed && text == columns_.name(column)) throw HeaderIsSample{column};
    if (!labels_.Add(text)) FailField(position, column, NoLabel(text));
  }

  void ReadId(Index column) {
    const char* const position = scanner_.field();
    const std::string_view text = scanner_.ReadText();
    if (text.empty() || !IsPlainText(text)) {
      FailField(position, column, fmt::format("found {}, expected a sample id", Quoted(text)));
    }
    ids_.emplace_back(text);
    id_positions_.push_back(position);
  }

  Table TakeTable() {
    Table table;
    table.file = name();
    table.rows = rows_;
    table.labels = labels_.Take();
    table.ids = std::move(ids_);
    table.columns = ToText(columns_);
    const char* counted = scanner_.source().begin();
    Index line = 1;
    for (const char* position : id_positions_) {
      line += std::count(counted, position, '\n');
      counted = position;
      table.id_lines.push_back(line);
    }
    return table;
  }

  [[noreturn]] void Fail(const std::string& sentence) const {
    throw Error(ErrorKind::kData, fmt::format("{}: {}", name(), sentence));
  }
  [[noreturn]] void FailField(const char* position, Index column, const std::string& sentence) const {
    scanner_.Fail(position, column + 1, columns_.name(column), sentence);
  }
  [[noreturn]] void FailFieldCount() {
    scanner_.Rewind();
    const std::size_t found = scanner_.ReadFields().size();
    scanner_.source().FailLine(scanner_.record(),
                               fmt::format("{} fields, expected {} as in the first line", found, Count()));
  }

  CsvScanner scanner_;
  CsvColumns columns_;
  bool guesses_labels_ = true;
  bool lacks_labels_ = false;  // no labels found, and no option named their column
  bool allows_empty_rows_ = false;
  Index empty_fields_ = 0;  // of the row at hand
  struct {
    const char* position = nullptr;
    Index column = 0;
  } first_empty_;
  std::vector<double> presence_;  // Table::presence
  std::vector<Role> roles_;       // one per column
  Index rows_ = 0;
  AlignedVector<double> values_;  // row after row
  bool fits_float32_ = true;
  LabelList labels_;
  std::vector<std::string> ids_;
  std::vector<const char*> id_positions_;
};

}  // namespace

namespace {

/// Reads with `read`; where the supposed header turns out to be data, once more with the label column by
/// number.
template <class Read>
Table ReadHeaderOrSample(const FileBytes& file, const CsvOptions& options, const Read& read) {
  try {
    return read(CsvParser(file, options.delimiter), options);
  } catch (const HeaderIsSample& sample) {
    CsvOptions by_number = options;
    by_number.label_column = std::to_string(sample.label + 1);
    return read(CsvParser(file, options.delimiter), by_number);
  }
}

}  // namespace

Table ReadCsv(const FileBytes& file, const CsvOptions& options) {
  return ReadHeaderOrSample(file, options,
                            [](CsvParser parser, const CsvOptions& csv) { return parser.ReadFeatures(csv); });
}

CsvColumns ReadCsvColumns(const FileBytes& file, const CsvOptions& options) {
  CsvScanner scanner(file, options.delimiter);
  scanner.NextRecord();
  return FindFeatureColumns(scanner.ReadFields(), options, file.name);
}

Table ReadCsvLabels(const FileBytes& file, const CsvOptions& options) {
  return ReadHeaderOrSample(file, options,
                            [](CsvParser parser, const CsvOptions& csv) { return parser.ReadLabels(csv); });
}

}  // namespace kweave
