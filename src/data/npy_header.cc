#include "data/npy_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "data/text_source.h"
#include "kweave/error.h"

namespace kweave {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kMagic = "\x93NUMPY"sv;

[[noreturn]] void Fail(const std::string& name, const std::string& sentence) {
  throw Error(ErrorKind::kData, fmt::format("{}: {}", name, sentence));
}

/// The header's text is a Python dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  NpyHeader Run() {
    Expect('{');
    while (!Accept('}')) {
      const std::string_view key = String();
      Expect(':');
      Value(key);
      if (!Accept(',')) {
        Expect('}');
        break;
      }
    }
    SkipBlanks();
    if (!rest_.empty()) FailHere("the end of the header");
    if (!has_type_ || !has_order_ || !has_shape_) {
      Fail(name_, "the NumPy header lacks an entry, expected 'descr', 'fortran_order' and 'shape'");
    }
    return header_;
  }

 private:
  void Value(std::string_view key) {
    if (key == "descr") {
      SkipBlanks();
      if (rest_.starts_with('[')) Fail(name_, "this NumPy array holds records, expected plain numbers");
      Type(String());
      has_type_ = true;
    } else if (key == "fortran_order") {
      header_.is_fortran_order = Boolean();
      has_order_ = true;
    } else if (key == "shape") {
      header_.shape = Shape();
      has_shape_ = true;
    } else {
      Fail(name_, fmt::format("the NumPy header has an unknown entry {}", Quoted(key)));
    }
  }

  void Type(std::string_view text) {
    const std::string_view digits = text.size() > 2 ? text.substr(2) : "";
    std::int64_t size = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    const bool is_whole = code == std::errc() && end == digits.data() + digits.size() && size > 0;
    if (!is_whole || "<>|="sv.find(text[0]) == std::string_view::npos || !IsSupported(text[1], size)) {
      Fail(name_,
           fmt::format("the type of this NumPy array is {}, expected plain numbers (integer, bool or float)",
                       Quoted(text)));
    }
    header_.kind = text[1];
    header_.item_bytes = text[1] == 'U' ? 4 * size : size;
    header_.is_big_endian = text[0] == '>';
  }

  static bool IsSupported(char kind, std::int64_t size) {
    constexpr std::int64_t kLongestString = 1 << 20;  // longer ones are damaged headers, not names or labels
    switch (kind) {
      case 'f':
        return size == 2 || size == 4 || size == 8;
      case 'i':
      case 'u':
        return size == 1 || size == 2 || size == 4 || size == 8;
      case 'b':
        return size == 1;
      case 'U':
      case 'S':
        return size <= kLongestString;
      default:
        return false;
    }
  }

  std::string_view String() {
    SkipBlanks();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) FailHere("a quoted word");
    const std::size_t close = rest_.find(rest_[0], 1);
    if (close == std::string_view::npos) FailHere("a closing quote");
    const std::string_view word = rest_.substr(1, close - 1);
    rest_.remove_prefix(close + 1);
    return word;
  }

  bool Boolean() {
    SkipBlanks();
    for (const std::string_view word : {"True"sv, "False"sv}) {
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    }
    FailHere("True or False");
  }

  std::vector<Index> Shape() {
    std::vector<Index> shape;
    Expect('(');
    while (!Accept(')')) {
      SkipBlanks();
      Index length = 0;
      const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), length);
      if (code != std::errc() || length < 0) FailHere("a length");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (rest_.starts_with('L')) rest_.remove_prefix(1);  // written by Python 2
      shape.push_back(length);
      if (!Accept(',')) {
        Expect(')');
        break;
      }
    }
    return shape;
  }

  void SkipBlanks() {
    const std::size_t blanks = rest_.find_first_not_of(" \t\r\n"sv);
    rest_.remove_prefix(std::min(blanks, rest_.size()));
  }
  bool Accept(char wanted) {
    SkipBlanks();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void Expect(char wanted) {
    if (!Accept(wanted)) FailHere(fmt::format("'{}'", wanted));
  }
  [[noreturn]] void FailHere(const std::string& expected) const {
    Fail(name_, fmt::format("the NumPy header is damaged at {}, expected {}", Quoted(rest_), expected));
  }

  std::string_view rest_;
  const std::string& name_;
  NpyHeader header_;
  bool has_type_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

/// The announced values must fill the rest of the file exactly.
void CheckSize(const NpyHeader& header, std::size_t file_bytes, const std::string& name) {
  std::int64_t expected = header.item_bytes;
  for (const Index length : header.shape) {
    if (__builtin_mul_overflow(expected, length, &expected)) {
      Fail(name, fmt::format("the NumPy header announces an array of impossible shape ({})",
                             fmt::join(header.shape, ", ")));
    }
  }
  const std::size_t found = file_bytes - header.data_offset;
  if (found != static_cast<std::size_t>(expected)) {
    Fail(name, fmt::format("{} bytes follow the NumPy header, expected {} for shape ({})", found, expected,
                           fmt::join(header.shape, ", ")));
  }
}

}  // namespace

bool IsNpy(std::string_view bytes) { return bytes.starts_with(kMagic); }

NpyHeader ParseNpyHeader(std::string_view bytes, const std::string& name) {
  if (!IsNpy(bytes)) Fail(name, "this is not a NumPy file, expected it to begin with its magic bytes");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const std::size_t version = bytes.size() > 7 ? byte(6) : 0;
  const std::size_t prefix = version == 1 ? 10 : 12;
  if (bytes.size() < prefix) Fail(name, "the NumPy header is truncated");
  if (version < 1 || version > 3) {
    Fail(name, fmt::format("this NumPy file has format version {}, expected 1, 2 or 3", version));
  }
  std::size_t length = byte(8) + (byte(9) << 8);
  if (version > 1) length += (byte(10) << 16) + (byte(11) << 24);
  if (length > bytes.size() - prefix) Fail(name, "the NumPy header is truncated");
  NpyHeader header = DictionaryParser(bytes.substr(prefix, length), name).Run();
  header.data_offset = prefix + length;
  CheckSize(header, bytes.size(), name);
  return header;
}

}  // namespace kweave
