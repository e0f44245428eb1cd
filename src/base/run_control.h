#ifndef KWEAVE_BASE_RUN_CONTROL_H_
#define KWEAVE_BASE_RUN_CONTROL_H_

#include <optional>
#include <string_view>

#include "base/stopwatch.h"
#include "kweave/context.h"
#include "kweave/summary.h"

namespace kweave {

/// Clock, limits and reports of one run. Long loops ask ShouldStop() between steps; it is cheap.
class RunControl {
 public:
  explicit RunControl(const Context& context) : context_(context) {}

  double Seconds() const { return watch_.Seconds(); }
  /// True once the time limit has passed or the user asked to stop; stays true.
  bool ShouldStop();
  /// Throws Error(kResource) when ShouldStop(): for what comes before there is a model.
  void ThrowIfStopped();
  /// kTimeLimit or kInterrupted once ShouldStop() was true.
  std::optional<Status> stop_reason() const { return stop_reason_; }
  /// Forwards to the context's progress callback, a few times a second at most.
  void Report(Progress progress);
  /// Reports the last state again with the time of now: long steps call it to show that they are alive.
  void Tick() { Report(last_progress_); }
  void Log(LogLevel level, std::string_view message) const;

 private:
  const Context& context_;
  Stopwatch watch_;
  std::optional<Status> stop_reason_;
  double last_report_seconds_ = -1;
  Progress last_progress_;
};

}  // namespace kweave

#endif  // KWEAVE_BASE_RUN_CONTROL_H_
