#ifndef KWEAVE_ERROR_H_
#define KWEAVE_ERROR_H_

#include <stdexcept>
#include <string>

namespace kweave {

/// Who has to act on an error. The values are the exit statuses of the command line.
enum class ErrorKind {
  kUsage = 2,     ///< a wrong option, option value or kernel specification
  kData = 3,      ///< a bad data or model file
  kResource = 4,  ///< out of memory, disk or time before any model existed
};

/// Thrown on wrong use, with one sentence that says what, where and what was expected.
/// Numerical outcomes are never thrown: they are a status in the summary.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace kweave

#endif  // KWEAVE_ERROR_H_
