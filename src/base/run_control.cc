#include "base/run_control.h"

#include <algorithm>
#include <utility>

#include "kweave/error.h"

namespace kweave {

namespace {
constexpr double kSecondsBetweenReports = 0.1;  // what people see as going on without a break
}  // namespace

bool RunControl::ShouldStop() {
  const bool is_new = !stop_reason_;
  if (!MustEnd()) return false;
  if (is_new && *stop_reason_ == Status::kTimeLimit) {
    Log(LogLevel::kNote, "stopping at the time limit, certifying the best model so far");
  }
  return true;
}

bool RunControl::MustEnd() {
  if (stop_reason_) return true;
  if (context_.stop_requested && context_.stop_requested()) {
    stop_reason_ = Status::kInterrupted;
  } else if (has_time_limit() && Seconds() + reserved_seconds_ >= context_.time_limit_seconds) {
    stop_reason_ = Status::kTimeLimit;
  }
  return stop_reason_.has_value();
}

void RunControl::ThrowIfStopped() {
  if (!MustEnd()) return;
  throw Error(ErrorKind::kResource, *stop_reason_ == Status::kTimeLimit
                                        ? "the time limit was reached before there was a model"
                                        : "stopped before there was a model");
}

RunControl::Stage::Stage(RunControl& control, std::string name, std::optional<double> others)
    : control_(control) {
  if (!control.stages_.empty()) name = control.stages_.back().name + ", " + name;
  control.stages_.push_back({std::move(name), others});
  control.last_progress_.relative_gap = 1;
}

RunControl::Stage::~Stage() {
  control_.stages_.pop_back();
  control_.last_progress_.relative_gap = control_.stages_.empty() ? control_.whole_gap_ : 1;
}

std::optional<double> RunControl::WholeGap(double part_gap) const {
  for (const Part& part : stages_) {
    if (!part.others) return {};
    part_gap = std::max(part_gap, *part.others);
  }
  return part_gap;
}

void RunControl::Report(Progress progress) {
  last_progress_ = progress;
  progress.stage_gap = progress.relative_gap;
  if (!stages_.empty()) progress.stage = stages_.back().name;
  whole_gap_ = progress.relative_gap = WholeGap(progress.stage_gap).value_or(whole_gap_);
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
