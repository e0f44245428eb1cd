#ifndef KWEAVE_APP_PROGRESS_H_
#define KWEAVE_APP_PROGRESS_H_

#include <cstddef>

#include "kweave/context.h"

namespace kweave::app {

/// One line on a terminal that is written over and over; nothing where standard error is no terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool is_wanted);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const Progress& progress);
  /// Wipes the line, so that other text may follow.
  void Clear();

 private:
  /// Seconds until the gap is small enough if it goes on falling at its mean rate; negative: unknown.
  double SecondsLeft(const Progress& progress);

  bool is_shown_;
  std::size_t width_ = 0;  ///< characters on the line now
  double first_gap_ = 0;   ///< 0: none seen yet
  double first_seconds_ = 0;
};

}  // namespace kweave::app

#endif  // KWEAVE_APP_PROGRESS_H_
