// Pieces of HTML: texts of strangers, numbers and bars.
//
// Holds  Whatever comes from a file passes through Escape or Name before it is part of a page, so that a name
//        can neither open an element nor leave an attribute.
#ifndef KWEAVE_REPORT_HTML_H_
#define KWEAVE_REPORT_HTML_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kweave/summary.h"

namespace kweave::html {

/// A text as it may stand between tags and inside quoted attributes. Bytes that are not UTF-8 and control
/// characters become U+FFFD.
std::string Escape(std::string_view text);
/// A name of the user's, kept apart from the direction of the text around it.
std::string Name(std::string_view text);

/// Four digits; "–" for what is not a number.
std::string Number(double value);
/// 0.1234 as "12.3 %".
std::string Percent(double share);
/// [0.5, 0.6] as "50.0 to 60.0 %".
std::string PercentRange(const WeightInterval& shares, std::string_view word = "to");
/// "1 sample", "2 samples".
std::string Count(std::int64_t count, std::string_view noun);

/// A bar from 0 to `value`, and a whisker over the interval, of a scale that ends at `full`.
std::string Bar(double value, const std::optional<WeightInterval>& interval, double full);

/// One column of a table that can be sorted.
struct Column {
  std::string title;  ///< HTML
  bool is_number = false;
  std::string hint = {};  ///< plain text: what it means
  bool is_wide = false;   ///< takes a line of its own on narrow screens
};

/// One cell: what is shown, and the plain text that it is sorted by.
struct Cell {
  std::string content;  ///< HTML
  std::string key;      ///< plain; a number for columns of numbers
};
Cell NumberCell(double value);
Cell PercentCell(double share);
Cell NameCell(std::string_view name);

struct Table {
  std::string caption;  ///< plain: what assistive programs read
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  /// Of longer tables these many rows are shown at first, with a field to filter them.
  std::size_t rows_at_first = 25;

  std::string ToHtml() const;
};

/// Rows by columns of shares from 0 to 1 (or -1 to 1), as a table of coloured cells.
struct HeatMap {
  std::string caption;
  std::string corner;  ///< HTML: what rows and columns are
  std::vector<std::string> rows, columns;
  std::vector<double> values;           ///< row after row
  std::vector<std::string> texts = {};  ///< plain, in the cells; empty: two digits of the values
  bool is_signed = false;               ///< negative values have a colour of their own

  std::string ToHtml() const;
};

}  // namespace kweave::html

#endif  // KWEAVE_REPORT_HTML_H_
