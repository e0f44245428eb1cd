#ifndef KWEAVE_DATA_TEXT_SOURCE_H_
#define KWEAVE_DATA_TEXT_SOURCE_H_

#include <string>
#include <string_view>

#include "data/file_bytes.h"
#include "kweave/dataset.h"

namespace kweave {

/// The text of one input. Positions are pointers into it; lines and columns are counted only for a message.
class TextSource {
 public:
  /// Steps over a UTF-8 byte order mark. Throws Error(kData) on UTF-16 and on text without a line.
  explicit TextSource(const FileBytes& file);

  const std::string& name() const { return name_; }
  const char* begin() const { return text_.data(); }
  const char* end() const { return text_.data() + text_.size(); }
  std::string_view text() const { return text_; }

  /// The 1-based line that holds `position`.
  Index Line(const char* position) const;
  /// Throws Error(kData): "NAME, line L, column C: SENTENCE", the column counted in bytes from 1.
  [[noreturn]] void FailAt(const char* position, const std::string& sentence) const;
  /// The same without a column, for what is wrong with a whole line.
  [[noreturn]] void FailLine(const char* position, const std::string& sentence) const;

 private:
  std::string name_;
  std::string_view text_;
};

/// `text` in quotes for a message: shortened, unprintable bytes escaped.
std::string Quoted(std::string_view text);

/// Whether `text` is UTF-8 without control characters, so that it can be a label, an id or a name.
bool IsPlainText(std::string_view text);

/// The token at `position`: up to the next blank, comma or line end, for messages.
std::string_view TokenAt(const char* position, const char* end);

}  // namespace kweave

#endif  // KWEAVE_DATA_TEXT_SOURCE_H_
