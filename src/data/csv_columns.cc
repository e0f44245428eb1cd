#include "data/csv_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "data/number.h"
#include "data/table.h"
#include "data/text_source.h"
#include "kweave/error.h"
#include "kweave/nearest_name.h"

namespace kweave {
namespace {

constexpr std::array<std::string_view, 4> kLabelNames = {"label", "class", "target", "y"};
constexpr std::array<std::string_view, 3> kIdNames = {"id", "sample", "sample_id"};

bool IsOneOf(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::find(words, LowerCase(text)) != words.end();
}

/// The 0-based column that an all-digit option means.
std::optional<Index> ByIndex(const std::string& option) {
  if (option.empty() || !std::ranges::all_of(option, internal::IsDigit)) return std::nullopt;
  Index index = 0;
  const bool is_read = std::from_chars(option.data(), option.data() + option.size(), index).ec == std::errc();
  return is_read && index > 0 ? index - 1 : std::numeric_limits<Index>::max();
}

class ColumnFinder {
 public:
  ColumnFinder(std::vector<std::string> first_record, const CsvOptions& options, const std::string& file)
      : fields_(std::move(first_record)), options_(options), file_(file) {}

  CsvColumns Features() {
    columns_.has_header = HoldsName() || HoldsWord();
    FindColumns();
    if (ByIndex(options_.label_column)) RefuseFeatureOfTraining(*columns_.label);
    return Checked();
  }

  CsvColumns Labels() {
    columns_.has_header = HoldsName();
    FindColumns();
    if (!columns_.label && options_.label_column.empty()) {
      if (Count() == 1 && !columns_.has_header) columns_.label = 0;
      if (Count() == 2 && columns_.id) columns_.label = 1 - *columns_.id;
    }
    if (!columns_.label) {
      Fail(options_.label_column.empty()
               ? "cannot tell which column holds the labels, expected one called label, class, target or y"
               : NoColumn("column", options_.label_column, Header()));
    }
    return Checked();
  }

 private:
  Index Count() const { return static_cast<Index>(fields_.size()); }

  std::span<const std::string> Header() const {
    return std::span(fields_).first(columns_.has_header ? fields_.size() : 0);
  }

  bool IsExpected(const std::string& name) const {
    return std::ranges::find(options_.expected_names, name) != options_.expected_names.end();
  }

  /// New samples may come without the column that had the labels in training, so nothing should ask for it
  /// then.
  void RefuseFeatureOfTraining(Index label) const {
    if (label >= Count()) return;
    const std::string& name = fields_[static_cast<std::size_t>(label)];
    const bool has_names = columns_.has_header && !options_.expected_names.empty();
    if (has_names ? !IsExpected(name) : Count() - (columns_.id ? 1 : 0) != options_.expected_columns) return;
    Fail(fmt::format(
        "column {}{} is a feature in training, expected one with labels (where there are none, leave "
        "out `label_column`)",
        label + 1, columns_.has_header ? fmt::format(" ({})", Quoted(name)) : ""));
  }

  /// Whether the first record spells the label or id column.
  bool HoldsName() const {
    return std::ranges::any_of(fields_, [&](const std::string& field) {
      const auto is_meant = [&](const std::string& option, std::span<const std::string_view> usual) {
        return option.empty() ? IsOneOf(field, usual) : !ByIndex(option) && field == option;
      };
      return is_meant(options_.label_column, kLabelNames) || is_meant(options_.id_column, kIdNames);
    });
  }

  bool HoldsWord() const {
    for (Index column = 0; column < Count(); ++column) {
      const std::string& field = fields_[static_cast<std::size_t>(column)];
      const bool is_exempt =
          column == ByIndex(options_.label_column) || column == ByIndex(options_.id_column);
      if (!is_exempt && !ToNumber(field) && !IsMissingMark(field) && !IsNanOrInfinity(field)) return true;
    }
    return false;
  }

  void FindColumns() {
    const std::span<const std::string_view> guessed(kLabelNames);
    columns_.label =
        Find(options_.label_column, guessed.first(options_.guesses_labels ? guessed.size() : 0), "label");
    columns_.is_label_guessed = options_.label_column.empty() && columns_.label.has_value();
    columns_.id = Find(options_.id_column, kIdNames, "id");
    if (!options_.id_column.empty() && !columns_.id) {
      Fail(NoColumn("id column", options_.id_column, Header()));
    }
    const bool is_first_unnamed = columns_.has_header && fields_[0].empty() && Count() > 1;
    if (!columns_.id && is_first_unnamed) columns_.id = 0;
  }

  std::optional<Index> Find(const std::string& option, std::span<const std::string_view> usual,
                            const char* role) const {
    if (const auto index = ByIndex(option)) return index;
    if (!columns_.has_header) return std::nullopt;
    std::optional<Index> found;
    for (Index column = 0; column < Count(); ++column) {
      const std::string& field = fields_[static_cast<std::size_t>(column)];
      if (option.empty() ? !IsOneOf(field, usual) || IsExpected(field) : field != option) continue;
      if (found) {
        Fail(fmt::format("columns {} and {} could both be the {} column ({} and {}), expected one",
                         *found + 1, column + 1, role, Quoted(fields_[static_cast<std::size_t>(*found)]),
                         Quoted(field)));
      }
      found = column;
    }
    return found;
  }

  CsvColumns Checked() {
    for (const auto& [column, role] : {std::pair(columns_.label, "label"), std::pair(columns_.id, "id")}) {
      if (column && *column >= Count()) {
        Fail(fmt::format("the {} column is not there, expected an index from 1 to {}", role, Count()));
      }
    }
    if (columns_.label && columns_.label == columns_.id) {
      Fail(fmt::format("column {} cannot hold both the labels and the ids", *columns_.label + 1));
    }
    if (columns_.has_header) {
      for (std::string& field : fields_) {
        // Spreadsheets put line breaks into headings.
        std::ranges::replace_if(
            field, [](unsigned char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
        if (!IsPlainText(field))
          Fail(fmt::format("the header holds {}, expected names in UTF-8", Quoted(field)));
      }
      columns_.names = std::move(fields_);
    }
    return std::move(columns_);
  }

  [[noreturn]] void Fail(const std::string& sentence) const {
    throw Error(ErrorKind::kData, fmt::format("{}: {}", file_, sentence));
  }

  std::vector<std::string> fields_;
  const CsvOptions& options_;
  const std::string& file_;
  CsvColumns columns_;
};

}  // namespace

CsvColumns FindFeatureColumns(std::vector<std::string> first_record, const CsvOptions& options,
                              const std::string& file) {
  return ColumnFinder(std::move(first_record), options, file).Features();
}

CsvColumns FindLabelColumns(std::vector<std::string> first_record, const CsvOptions& options,
                            const std::string& file) {
  return ColumnFinder(std::move(first_record), options, file).Labels();
}

std::string ToText(const CsvColumns& columns) {
  std::string text = columns.has_header ? "header" : "no header";
  for (const auto& [role, column] : {std::pair("labels", columns.label), std::pair("ids", columns.id)}) {
    if (!column) continue;
    const std::string_view name = columns.name(*column);
    text +=
        fmt::format(", {} in {}", role, name.empty() ? fmt::format("column {}", *column + 1) : Quoted(name));
  }
  return text;
}

bool IsUsualLabelName(std::string_view name) { return IsOneOf(name, kLabelNames); }

std::string NoColumn(std::string_view what, std::string_view name, std::span<const std::string> names) {
  if (names.empty())
    return fmt::format("there is no {} called {}, as there is no header", what, Quoted(name));
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view nearest = NearestName(name, candidates);
  return fmt::format("there is no {} called {}, only {}{}", what, Quoted(name), QuotedList(names),
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", Quoted(nearest)));
}

std::string QuotedList(std::span<const std::string> names) {
  constexpr std::size_t kShown = 10;  // so that a message stays within a few lines
  std::string text;
  for (const std::string& name : names.first(std::min(names.size(), kShown))) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", Quoted(name));
  }
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

}  // namespace kweave
