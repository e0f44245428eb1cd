#include "data/table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "data/number.h"
#include "data/text_source.h"

namespace kweave {

bool IsNanOrInfinity(std::string_view text) {
  std::string lower(text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0));
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

bool LabelList::Add(std::string_view text) {
  if (text.empty() && !labels_.separator.empty()) {
    AddNone();
    return true;
  }
  const std::optional<double> number = ToNumber(text);
  if (number.has_value() ? std::isinf(*number)
                         : text.empty() || !IsPlainText(text) || IsNanOrInfinity(text)) {
    return false;
  }
  if (number.has_value() && labels_.is_numeric()) labels_.number.push_back(*number);
  labels_.text.emplace_back(text);
  return true;
}

Labels LabelList::Take() {
  if (!labels_.is_numeric()) labels_.number.clear();
  return std::exchange(labels_, {});
}

}  // namespace kweave
