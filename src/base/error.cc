#include "kweave/error.h"

#include <algorithm>
#include <cctype>

namespace kweave {

std::string NameOptions(std::string_view text, const std::function<std::string(std::string_view)>& rename) {
  constexpr char kQuote = '`';
  std::string named;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find(kQuote), text.size());
    named += text.substr(0, begin);
    text.remove_prefix(begin);
    if (text.empty()) break;
    const std::size_t end = text.find(kQuote, 1);
    const std::string_view name = end == text.npos ? "" : text.substr(1, end - 1);
    const bool is_name = !name.empty() && std::ranges::all_of(name, [](unsigned char letter) {
      return std::isalnum(letter) != 0 || letter == '_';
    });
    named += is_name ? rename(name) : std::string(1, kQuote);
    text.remove_prefix(is_name ? end + 1 : 1);
  }
  return named;
}

}  // namespace kweave
