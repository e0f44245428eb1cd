#include "data/number.h"

#include <charconv>
#include <limits>
#include <system_error>

namespace kweave {
namespace internal {

const char* AddExponent(const char* p, const char* last, std::int64_t& exponent) {
  const char* digits = p + 1;
  const bool is_negative = digits != last && *digits == '-';
  if (digits != last && (*digits == '-' || *digits == '+')) ++digits;
  constexpr std::int64_t kHuge = 1'000'000'000'000'000;  // far outside double's range, far inside int64's
  std::int64_t written = 0;
  const char* end = digits;
  for (; end != last && IsDigit(*end); ++end) {
    if (written < kHuge) written = 10 * written + (*end - '0');
  }
  if (end == digits) return p;
  exponent += is_negative ? -written : written;
  return end;
}

double RoundDecimal(const char* first, const char* last, std::int64_t exponent) {
  double value = 0;
  if (std::from_chars(first, last, value).ec != std::errc::result_out_of_range) return value;
  // Out of range both ways: the place of the first significant digit tells overflow from underflow.
  std::int64_t significant_digits = 0;
  for (const char* p = first; p != last && (*p | 0x20) != 'e'; ++p) {
    if (IsDigit(*p) && (*p != '0' || significant_digits > 0)) ++significant_digits;
  }
  return exponent + significant_digits > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

}  // namespace internal

std::optional<double> ToNumber(std::string_view text) {
  double value = 0;
  const char* const last = text.data() + text.size();
  if (text.empty() || ParseNumber(text.data(), last, value) != last) return std::nullopt;
  return value;
}

}  // namespace kweave
