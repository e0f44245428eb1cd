#ifndef KWEAVE_DATA_NUMBER_H_
#define KWEAVE_DATA_NUMBER_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kweave {

namespace internal {

/// 10^0 to 10^22, all exact in double.
inline constexpr double kExactPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Appends the digits at `p` to `mantissa` (modulo 2^64) and returns their end.
inline const char* AppendDigits(const char* p, const char* last, std::uint64_t& mantissa) {
  while (p != last && IsDigit(*p)) mantissa = 10 * mantissa + static_cast<std::uint64_t>(*p++ - '0');
  return p;
}

/// Adds the exponent written at `p` ('e' or 'E', sign, digits) to `exponent`; returns `p` when there is none.
const char* AddExponent(const char* p, const char* last, std::int64_t& exponent);

/// Rounds the unsigned number in [first, last) correctly whatever its length; infinity on overflow.
double RoundDecimal(const char* first, const char* last, std::int64_t exponent);

}  // namespace internal

/// Reads the longest decimal number (sign, digits, point, exponent) at `first` and returns its end, or
/// `first` when none starts there. Correctly rounded; overflow gives an infinity, underflow zero. "nan",
/// "inf" and hexadecimal are no numbers.
inline const char* ParseNumber(const char* first, const char* last, double& value) {
  const char* p = first;
  const bool is_negative = p != last && *p == '-';
  if (p != last && (*p == '-' || *p == '+')) ++p;
  const char* const unsigned_first = p;
  std::uint64_t mantissa = 0;
  p = internal::AppendDigits(p, last, mantissa);
  std::int64_t digits = p - unsigned_first;
  std::int64_t exponent = 0;
  if (p != last && *p == '.') {
    const char* const fraction = ++p;
    p = internal::AppendDigits(p, last, mantissa);
    exponent = fraction - p;
    digits -= exponent;
  }
  if (digits == 0) return first;
  if (p != last && (*p | 0x20) == 'e') p = internal::AddExponent(p, last, exponent);
  // Both operands are exact, so one multiplication or division rounds correctly (Clinger 1990).
  double magnitude = static_cast<double>(mantissa);
  if (digits <= 19 && mantissa <= (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
    magnitude = exponent < 0 ? magnitude / internal::kExactPowersOfTen[-exponent]
                             : magnitude * internal::kExactPowersOfTen[exponent];
  } else {
    magnitude = internal::RoundDecimal(unsigned_first, p, exponent);
  }
  value = is_negative ? -magnitude : magnitude;
  return p;
}

/// The value of `text` when all of it is one number (infinite on overflow).
std::optional<double> ToNumber(std::string_view text);

/// Whether float32 holds `value` exactly.
inline bool FitsFloat32(double value) {
  return value >= -0x1.fffffep127 && value <= 0x1.fffffep127 &&
         static_cast<double>(static_cast<float>(value)) == value;
}

}  // namespace kweave

#endif  // KWEAVE_DATA_NUMBER_H_
