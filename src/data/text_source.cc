#include "data/text_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "kweave/error.h"

namespace kweave {
namespace {

using std::string_view_literals::operator""sv;

/// The length of the UTF-8 sequence at the start of `text`, 0 when it is none (overlong and surrogates
/// included).
std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  std::uint32_t code = lead & (0x7f >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = (code << 6) | (byte(i) & 0x3f);
  }
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  return is_overlong || is_surrogate || code > 0x10ffff ? 0 : length;
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

TextSource::TextSource(const FileBytes& file) : name_(file.name), text_(file.bytes) {
  if (text_.starts_with("\xff\xfe"sv) || text_.starts_with("\xfe\xff"sv)) {
    throw Error(ErrorKind::kData, fmt::format("{}: this is UTF-16 text, expected UTF-8", name_));
  }
  if (text_.starts_with("\xef\xbb\xbf"sv)) text_.remove_prefix(3);
  if (text_.find_first_not_of(" \t\r\n"sv) == std::string_view::npos) {
    throw Error(ErrorKind::kData, fmt::format("{}: this file is empty", name_));
  }
}

Index TextSource::Line(const char* position) const { return 1 + std::count(begin(), position, '\n'); }

void TextSource::FailAt(const char* position, const std::string& sentence) const {
  const char* line = position;
  while (line != begin() && line[-1] != '\n') --line;
  throw Error(ErrorKind::kData, fmt::format("{}, line {}, column {}: {}", name_, Line(position),
                                            position - line + 1, sentence));
}

void TextSource::FailLine(const char* position, const std::string& sentence) const {
  throw Error(ErrorKind::kData, fmt::format("{}, line {}: {}", name_, Line(position), sentence));
}

std::string Quoted(std::string_view text) {
  constexpr std::size_t kLongest = 40;  // half a line of a terminal: leaves room for the sentence around it
  std::string quoted = "\"";
  std::size_t i = 0;
  while (i < std::min(text.size(), kLongest)) {
    const std::size_t length = IsControl(text[i]) ? 0 : Utf8Length(text.substr(i));
    if (length == 0) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i++]));
    } else {
      quoted += text.substr(i, length);
      i += length;
    }
  }
  return quoted + (i < text.size() ? "...\"" : "\"");
}

bool IsPlainText(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = IsControl(text[i]) ? 0 : Utf8Length(text.substr(i));
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string_view TokenAt(const char* position, const char* end) {
  const std::string_view rest(position, static_cast<std::size_t>(end - position));
  return rest.substr(0, rest.find_first_of(" \t\r\n,"sv));
}

}  // namespace kweave
