#include "base/run_control.h"

#include "kweave/error.h"

namespace kweave {

namespace {
constexpr double kSecondsBetweenReports = 0.1;
}  // namespace

bool RunControl::ShouldStop() {
  if (stop_reason_) return true;
  if (context_.stop_requested && context_.stop_requested()) {
    stop_reason_ = Status::kInterrupted;
  } else if (context_.time_limit_seconds > 0 && Seconds() >= context_.time_limit_seconds) {
    stop_reason_ = Status::kTimeLimit;
  }
  return stop_reason_.has_value();
}

void RunControl::ThrowIfStopped() {
  if (!ShouldStop()) return;
  throw Error(ErrorKind::kResource, *stop_reason_ == Status::kTimeLimit
                                        ? "the time limit was reached before there was a model"
                                        : "stopped before there was a model");
}

void RunControl::Report(Progress progress) {
  last_progress_ = progress;
  const double now = Seconds();
  if (!context_.progress || now - last_report_seconds_ < kSecondsBetweenReports) return;
  last_report_seconds_ = now;
  progress.seconds = now;
  context_.progress(progress);
}

void RunControl::Log(LogLevel level, std::string_view message) const {
  if (context_.log) context_.log(level, message);
}

}  // namespace kweave
