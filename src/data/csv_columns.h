#ifndef KWEAVE_DATA_CSV_COLUMNS_H_
#define KWEAVE_DATA_CSV_COLUMNS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kweave/dataset.h"

namespace kweave {

struct CsvOptions {
  char delimiter = ',';
  std::string label_column;        ///< name or 1-based index; empty: guessed if `guesses_labels`
  bool guesses_labels = true;      ///< a column called label, class, target or y holds the labels
  std::string label_separator;     ///< between several labels of a sample; empty: every sample has one
  std::string id_column;           ///< name or 1-based index; empty: a column called id, sample or sample_id
  bool allows_empty_rows = false;  ///< samples without any feature, which lack the view
  Index expected_columns = 0;      ///< features, 0: any number
  std::vector<std::string> expected_names;  ///< with a header: these columns are the features; empty: any
};

/// What the columns of one file are for. Columns count from 0 here.
struct CsvColumns {
  bool has_header = false;
  std::vector<std::string> names;  ///< of all columns; empty without a header
  std::optional<Index> label;
  std::optional<Index> id;
  bool is_label_guessed = false;  ///< by a usual name in the first record

  /// The name of a column, empty without a header.
  std::string_view name(Index column) const {
    return has_header ? std::string_view(names[static_cast<std::size_t>(column)]) : std::string_view();
  }
};

/// Finds the columns by the first record of a file of features. It is a header when it holds the name of the
/// label or id column, or, outside of columns given by index, a field that is neither a number nor a mark for
/// a missing value. In a header names are found by exact spelling, the usual ones without regard to case; a
/// first column without a name holds ids. Throws Error(kData) when a column given by the user is not there or
/// when two could be meant.
CsvColumns FindFeatureColumns(std::vector<std::string> first_record, const CsvOptions& options,
                              const std::string& file);

/// The same for a file of labels, whose label column may also be the only one that holds no ids. Labels may
/// be words, so it has a header only when its first record holds a name of the label or id column.
CsvColumns FindLabelColumns(std::vector<std::string> first_record, const CsvOptions& options,
                            const std::string& file);

/// `header, labels in "species", ids in column 1`, for people.
std::string ToText(const CsvColumns& columns);

/// Whether a column of this name is taken for the labels where nothing else is said.
bool IsUsualLabelName(std::string_view name);

/// `"a", "b", "c" and 7 more`, for messages.
std::string QuotedList(std::span<const std::string> names);

/// Says that there is no column `name` among `names`, and which one may be meant; `what` is the kind of
/// column, and no names stand for no header.
std::string NoColumn(std::string_view what, std::string_view name, std::span<const std::string> names);

}  // namespace kweave

#endif  // KWEAVE_DATA_CSV_COLUMNS_H_
