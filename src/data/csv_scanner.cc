#include "data/csv_scanner.h"

#include <fmt/format.h>

#include <algorithm>

#include "kweave/error.h"

namespace kweave {

CsvScanner::CsvScanner(const FileBytes& file, char delimiter)
    : source_(file), end_(source_.end()), delimiter_(delimiter), p_(source_.begin()), record_(p_) {}

bool CsvScanner::NextRecord() {
  while (p_ != end_ && (*p_ == '\n' || *p_ == '\r' || *p_ == ' ' || (*p_ == '\t' && delimiter_ != '\t')))
    ++p_;
  record_ = p_;
  return p_ != end_;
}

std::string_view CsvScanner::ReadText() {
  const char* const token = SkipBlanks(p_);
  if (token != end_ && *token == '"') return ReadQuoted(token);
  const char* p = token;
  while (!IsFieldEnd(p)) ++p;
  p_ = p;
  while (p != token && (p[-1] == ' ' || p[-1] == '\t')) --p;
  return {token, static_cast<std::size_t>(p - token)};
}

std::string_view CsvScanner::ReadQuoted(const char* open) {
  unquoted_.clear();
  const char* p = open + 1;
  while (true) {
    const char* const quote = std::find(p, end_, '"');
    if (quote == end_) source_.FailAt(open, "this quoted field is never closed, expected another '\"'");
    unquoted_.append(p, quote);
    p = quote + 1;
    if (p == end_ || *p != '"') break;
    unquoted_ += *p++;
  }
  p_ = SkipBlanks(p);
  if (!IsFieldEnd(p_)) {
    source_.FailAt(p_, fmt::format("found {} after a closing quote, expected the end of the field",
                                   Quoted(TokenAt(p_, end_))));
  }
  return unquoted_;
}

std::vector<std::string> CsvScanner::ReadFields() {
  std::vector<std::string> fields;
  do {
    fields.emplace_back(ReadText());
  } while (NextField());
  return fields;
}

void CsvScanner::Fail(const char* position, Index column, std::string_view column_name,
                      const std::string& sentence) const {
  const std::string name = column_name.empty() ? "" : fmt::format(" ({})", Quoted(column_name));
  throw Error(ErrorKind::kData, fmt::format("{}, line {}, column {}{}: {}", source_.name(),
                                            source_.Line(position), column, name, sentence));
}

char DetectDelimiter(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  for (const char delimiter : {',', ';', '\t'}) {
    if (line.find(delimiter) != std::string_view::npos) return delimiter;
  }
  return ',';
}

}  // namespace kweave
