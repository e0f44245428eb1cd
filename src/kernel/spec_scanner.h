// The characters of one kernel specification: words, numbers, quotes and errors that point at their place.
#ifndef KWEAVE_KERNEL_SPEC_SCANNER_H_
#define KWEAVE_KERNEL_SPEC_SCANNER_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace kweave {

class SpecScanner {
 public:
  explicit SpecScanner(std::string_view text) : text_(text) {}

  /// Where the next thing starts, white space skipped.
  std::size_t Position();
  bool AtEnd();
  /// The next character after white space; 0 at the end.
  char Peek();
  bool Accept(char wanted);
  bool Accept(std::string_view wanted);
  void Expect(char wanted, std::string_view after);

  /// Letters, digits and underscores; empty when the next character is none of them.
  std::string_view Word();
  /// Whether `word=` comes next; moves past it if so.
  bool AcceptAssignment(std::string_view word);
  /// Whether `, word=` comes next; moves past it if so.
  bool AcceptNext(std::string_view word);
  /// A finite number; `what` says what it is for.
  double Number(std::string_view what);
  /// True when the next character may begin a number.
  bool AtNumber();
  /// Text in quotes (backslash escapes), or all characters up to white space, one of `,()[]` or one of
  /// `stops`.
  std::string Text(std::string_view what, std::string_view stops = {});
  bool AtQuote() { return Peek() == '"' || Peek() == '\''; }

  [[noreturn]] void Fail(std::size_t position, std::string_view message) const;
  [[noreturn]] void FailHere(std::string_view message);

 private:
  std::string QuotedText();

  std::string_view text_;
  std::size_t next_ = 0;
};

/// `text` as it can be written in a specification: bare where SpecScanner::Text reads it back, else in
/// quotes.
std::string QuotedIfNeeded(std::string_view text);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_SPEC_SCANNER_H_
