#include "kernel/spec_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kweave/error.h"

namespace kweave {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool EndsText(char c) { return IsSpace(c) || std::string_view(",()[]").find(c) != std::string_view::npos; }

/// The part of a long specification around `position`, without control characters.
std::string Excerpt(std::string_view text, std::size_t position) {
  constexpr std::size_t kAround = 60;  // about a line and a half of a terminal
  const std::size_t begin = position > kAround + 3 ? position - kAround : 0;
  const std::size_t end =
      text.size() - std::min(text.size(), position) > kAround + 3 ? position + kAround : text.size();
  std::string part(text.substr(begin, end - begin));
  std::ranges::replace_if(
      part, [](unsigned char c) { return c < ' ' || c == 127; }, '?');
  return fmt::format("{}{}{}", begin > 0 ? "..." : "", part, end < text.size() ? "..." : "");
}

}  // namespace

std::size_t SpecScanner::Position() {
  while (next_ < text_.size() && IsSpace(text_[next_])) ++next_;
  return next_;
}

bool SpecScanner::AtEnd() { return Position() == text_.size(); }

char SpecScanner::Peek() { return AtEnd() ? '\0' : text_[next_]; }

bool SpecScanner::Accept(char wanted) { return Accept(std::string_view(&wanted, 1)); }

bool SpecScanner::Accept(std::string_view wanted) {
  if (!text_.substr(Position()).starts_with(wanted)) return false;
  next_ += wanted.size();
  return true;
}

void SpecScanner::Expect(char wanted, std::string_view after) {
  if (!Accept(wanted)) FailHere(fmt::format("expected '{}' {}", wanted, after));
}

std::string_view SpecScanner::Word() {
  const std::size_t begin = Position();
  while (next_ < text_.size() && IsWord(text_[next_])) ++next_;
  return text_.substr(begin, next_ - begin);
}

bool SpecScanner::AcceptAssignment(std::string_view word) {
  const std::size_t begin = Position();
  if (Word() == word && Accept('=')) return true;
  next_ = begin;
  return false;
}

bool SpecScanner::AcceptNext(std::string_view word) {
  const std::size_t begin = Position();
  if (Accept(',') && AcceptAssignment(word)) return true;
  next_ = begin;
  return false;
}

bool SpecScanner::AtNumber() {
  const char c = Peek();
  return IsDigit(c) || c == '-' || c == '+' || (c == '.' && text_.substr(next_, 2) != "..");
}

double SpecScanner::Number(std::string_view what) {
  const std::size_t begin = Position();
  // Long enough for any number; 1..3 is a range, not "1." and ".3".
  std::size_t end = begin;
  const auto may_go_on = [](char c) { return IsWord(c) || c == '.' || c == '-' || c == '+'; };
  while (end < text_.size() && may_go_on(text_[end]) && text_.substr(end, 2) != "..") ++end;
  std::string_view rest = text_.substr(begin, end - begin);
  std::size_t sign = 0;
  if (rest.starts_with('+')) rest.remove_prefix(1), sign = 1;
  double value = 0;
  const auto [stop, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (status == std::errc::result_out_of_range)
    Fail(begin, fmt::format("{} is too large or too small", what));
  const bool is_cut = stop != rest.data() + rest.size() && IsWord(*stop);
  if (status != std::errc() || is_cut || !std::isfinite(value) || (sign == 1 && rest.starts_with('-'))) {
    Fail(begin, fmt::format("expected a number for {}", what));
  }
  next_ = begin + sign + static_cast<std::size_t>(stop - rest.data());
  return value;
}

std::string SpecScanner::Text(std::string_view what, std::string_view stops) {
  const std::size_t begin = Position();
  if (AtQuote()) return QuotedText();
  const auto ends = [&](char c) { return EndsText(c) || stops.find(c) != std::string_view::npos; };
  while (next_ < text_.size() && !ends(text_[next_])) ++next_;
  if (next_ == begin) FailHere(fmt::format("expected {}", what));
  return std::string(text_.substr(begin, next_ - begin));
}

std::string SpecScanner::QuotedText() {
  const std::size_t begin = next_;
  const char quote = text_[next_++];
  std::string text;
  while (next_ < text_.size() && text_[next_] != quote) {
    if (text_[next_] == '\\' && next_ + 1 < text_.size()) ++next_;
    text += text_[next_++];
  }
  if (next_ == text_.size()) Fail(begin, "this quote is never closed");
  ++next_;
  return text;
}

void SpecScanner::Fail(std::size_t position, std::string_view message) const {
  throw Error(ErrorKind::kUsage,
              fmt::format("kernel \"{}\", character {}: {}", Excerpt(text_, position), position + 1, message),
              {"kernels", std::string(text_), std::string(message)});
}

void SpecScanner::FailHere(std::string_view message) {
  const std::size_t position = Position();
  if (AtEnd()) Fail(position, fmt::format("{}, but the specification ends", message));
  Fail(position, fmt::format("{}, not '{}'", message, text_[position]));
}

std::string QuotedIfNeeded(std::string_view text) {
  const bool is_bare = !text.empty() &&
                       std::ranges::none_of(text, [](char c) { return EndsText(c) || c == '\\'; }) &&
                       text.find_first_of("\"'@*+=#") == std::string_view::npos;
  if (is_bare) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace kweave
