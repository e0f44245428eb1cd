#ifndef KWEAVE_DATA_CSV_SCANNER_H_
#define KWEAVE_DATA_CSV_SCANNER_H_

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "data/number.h"
#include "data/text_source.h"

namespace kweave {

/// Walks over delimited text (RFC 4180): fields may be quoted, then a quote is written twice and line ends
/// count as text. Blanks around a field are not part of it. Blank lines are no records.
class CsvScanner {
 public:
  CsvScanner(const FileBytes& file, char delimiter);

  const TextSource& source() const { return source_; }
  /// Moves to the next record; false at the end of the text.
  bool NextRecord();
  /// Where the current record starts.
  const char* record() const { return record_; }
  /// Goes back to the start of the current record; NextRecord() then finds it again.
  void Rewind() { p_ = record_; }
  /// Where the current field starts.
  const char* field() const { return p_; }

  /// Reads the current field if it is an unquoted finite number and nothing else; stays in front of it
  /// otherwise.
  bool ReadNumber(double& value) {
    const char* const token = SkipBlanks(p_);
    const char* p = ParseNumber(token, end_, value);
    if (p == token || std::isinf(value)) return false;
    if (p != end_ && *p != delimiter_ && *p != '\n') {
      p = SkipBlanks(p);
      if (!IsFieldEnd(p)) return false;
    }
    p_ = p;
    return true;
  }
  /// Reads the current field as text, valid until the next call.
  std::string_view ReadText();
  /// After a field: moves to the next one of the record; false when there is none.
  bool NextField() {
    if (p_ == end_ || *p_ != delimiter_) return false;
    ++p_;
    return true;
  }
  /// All fields of the current record.
  std::vector<std::string> ReadFields();

  /// Throws Error(kData): "FILE, line L, column C: SENTENCE" where columns are fields, counted from 1;
  /// `column_name` may be empty.
  [[noreturn]] void Fail(const char* position, Index column, std::string_view column_name,
                         const std::string& sentence) const;

 private:
  const char* SkipBlanks(const char* p) const {
    while (p != end_ && (*p == ' ' || (*p == '\t' && delimiter_ != '\t'))) ++p;
    return p;
  }
  bool IsFieldEnd(const char* p) const {
    return p == end_ || *p == delimiter_ || *p == '\n' || (*p == '\r' && (p + 1 == end_ || p[1] == '\n'));
  }
  std::string_view ReadQuoted(const char* open);

  const TextSource source_;
  const char* const end_;
  const char delimiter_;
  const char* p_;
  const char* record_;
  std::string unquoted_;
};

/// The delimiter of a text in CSV format: a comma, or the semicolon or tab of a first line without commas.
char DetectDelimiter(std::string_view text);

}  // namespace kweave

#endif  // KWEAVE_DATA_CSV_SCANNER_H_
