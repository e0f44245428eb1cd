#include "data/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "data/number.h"
#include "data/text_source.h"

namespace kweave {
namespace {

constexpr std::array<std::string_view, 7> kMissingMarks = {"", "na", "n/a", "nan", "null", "none", "?"};

/// Whether one of the labels in `text` is missing. An empty text has no labels.
bool LacksOne(std::string_view text, std::string_view separator) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    if (!one.empty() && IsMissingLabel(one)) return true;
    begin = end + separator.size();
  }
  return false;
}

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool IsMissingMark(std::string_view text) {
  return std::ranges::find(kMissingMarks, LowerCase(text)) != kMissingMarks.end();
}

bool IsMissingLabel(std::string_view text) { return IsMissingMark(text) && LowerCase(text) != "none"; }

bool IsNanOrInfinity(std::string_view text) {
  const std::string lower = LowerCase(text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0));
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

bool LabelList::Add(std::string_view text) {
  if (text.empty() && !labels_.separator.empty()) {
    AddNone();
    return true;
  }
  const std::optional<double> number = ToNumber(text);
  if (number.has_value() ? std::isinf(*number)
                         : IsMissingLabel(text) || !IsPlainText(text) || IsNanOrInfinity(text)) {
    return false;
  }
  if (!labels_.separator.empty() && LacksOne(text, labels_.separator)) return false;
  if (number.has_value() && labels_.is_numeric()) labels_.number.push_back(*number);
  labels_.text.emplace_back(text);
  return true;
}

std::string NoLabel(std::string_view text) {
  return fmt::format("{}found {}, expected a label (a finite number or a word)",
                     IsMissingLabel(text) ? "a label is missing: " : "", Quoted(text));
}

Labels LabelList::Take() {
  if (!labels_.is_numeric()) labels_.number.clear();
  return std::exchange(labels_, {});
}

}  // namespace kweave
