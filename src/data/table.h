#ifndef KWEAVE_DATA_TABLE_H_
#define KWEAVE_DATA_TABLE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kweave/dataset.h"

namespace kweave {

/// What one file says, before it is joined with others.
struct Table {
  std::string file;
  Index rows = 0;
  Features features;
  std::vector<std::string> feature_names;  ///< empty when the file has none
  Labels labels;                           ///< empty when the file has none
  std::vector<std::string> ids;            ///< empty when the file has none
  std::vector<Index> id_lines;             ///< the line of each id
  std::vector<double> presence = {};       ///< as View has it
  std::vector<std::string> notes;          ///< what the user should know about how it was read
  std::string columns;  ///< what its columns are taken for, in words; empty: nothing to tell
};

/// Letters beyond ASCII stay as they are.
std::string LowerCase(std::string_view text);

/// Whether `text` stands for a value that is not there: empty, NA, NaN, null, none or a question mark.
bool IsMissingMark(std::string_view text);
/// The same for a label, of which `none` is one like others.
bool IsMissingLabel(std::string_view text);

/// Whether `text` spells NaN or an infinity, with or without a sign.
bool IsNanOrInfinity(std::string_view text);

/// Collects labels one by one.
class LabelList {
 public:
  /// With a separator a text may hold several labels or none.
  explicit LabelList(std::string separator = {}) { labels_.separator = std::move(separator); }
  /// Appends `text`; false when it cannot be a label: the mark of a missing value, not plain text or an
  /// infinite number; with a separator, when this is so for one of several.
  [[nodiscard]] bool Add(std::string_view text);
  /// A sample without a label, where others may have several.
  void AddNone() { labels_.text.emplace_back(); }
  bool empty() const { return labels_.empty(); }
  /// What stands between labels from now on.
  void SetSeparator(std::string separator) { labels_.separator = std::move(separator); }
  const std::string& separator() const { return labels_.separator; }
  Labels Take();

 private:
  Labels labels_;
};

/// What is wrong with a text that LabelList refuses, for messages.
std::string NoLabel(std::string_view text);

}  // namespace kweave

#endif  // KWEAVE_DATA_TABLE_H_
