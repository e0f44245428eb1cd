#ifndef KWEAVE_ERROR_H_
#define KWEAVE_ERROR_H_

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kweave {

/// Who has to act on an error. The values are the exit statuses of the command line.
enum class ErrorKind {
  kUsage = 2,     ///< a wrong option, option value or kernel specification
  kData = 3,      ///< a bad data or model file
  kResource = 4,  ///< out of memory, disk or time before any model existed
};

/// What exactly is wrong, for callers that do more than show a sentence. Members that say nothing are empty.
struct ErrorDetail {
  std::string field;  ///< the option, by its name in the table of options
  std::string value;  ///< as it was given
  std::string rule;   ///< what was expected
};

/// Thrown on wrong use, with one sentence that says what, where and what was expected.
/// Numerical outcomes are never thrown: they are a status in the summary.
///
/// Sentences name options in backquotes, as in "`gap` is 2, expected above 0, at most 1"; NameOptions puts in
/// what users call them. A command line:
///
///     } catch (const kweave::Error& error) {
///       const auto flag = [](std::string_view name) { return "--" + std::string(name); };
///       std::cerr << NameOptions(error.what(), flag);
///     }
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& sentence, ErrorDetail detail = {})
      : std::runtime_error(sentence), kind_(kind), detail_(std::move(detail)) {}
  /// "`field` is value, expected rule".
  Error(ErrorKind kind, const ErrorDetail& detail)
      : Error(kind, "`" + detail.field + "` is " + detail.value + ", expected " + detail.rule, detail) {}

  ErrorKind kind() const { return kind_; }
  /// Empty where the trouble is not with the value of one option.
  const std::string& field() const { return detail_.field; }
  const std::string& value() const { return detail_.value; }
  const std::string& rule() const { return detail_.rule; }

 private:
  ErrorKind kind_;
  ErrorDetail detail_;
};

/// The text of an error or a log line with every `name` in backquotes replaced by what `rename` makes of it.
/// Backquotes around anything but a name (letters, digits and underscores) stay.
std::string NameOptions(std::string_view text, const std::function<std::string(std::string_view)>& rename);

}  // namespace kweave

#endif  // KWEAVE_ERROR_H_
