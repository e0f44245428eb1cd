#include "data/label_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/number.h"

namespace kweave {
namespace {

std::string_view WithoutSign(std::string_view text) {
  return text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
}

/// The digits in front of the point when nothing but zeros and no exponent follows, else nothing.
std::string_view WholeDigits(std::string_view unsigned_text) {
  const std::string_view digits = unsigned_text.substr(0, unsigned_text.find('.'));
  const std::string_view rest = unsigned_text.substr(digits.size());
  const bool is_whole = std::ranges::all_of(digits, internal::IsDigit) &&
                        rest.find_first_not_of('0', 1) == std::string_view::npos;
  return is_whole ? digits : std::string_view();
}

}  // namespace

std::optional<double> LabelNumber(std::string_view label) {
  const std::string_view digits = WithoutSign(label);
  const bool has_leading_zero = digits.size() > 1 && digits[0] == '0' && internal::IsDigit(digits[1]);
  if (has_leading_zero) return std::nullopt;
  return ToNumber(label);
}

std::string LabelKey(std::string_view label) {
  const std::optional<double> number = LabelNumber(label);
  if (!number || std::isinf(*number)) return std::string(label);
  if (*number == 0) return "0";
  const std::string_view digits = WholeDigits(WithoutSign(label));
  if (!digits.empty()) return fmt::format("{}{}", *number < 0 ? "-" : "", digits);
  // Printed without an exponent, a whole number has the digits of its plain spelling.
  return std::trunc(*number) == *number ? fmt::format("{:.0f}", *number) : fmt::format("{}", *number);
}

}  // namespace kweave
