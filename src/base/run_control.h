#ifndef KWEAVE_BASE_RUN_CONTROL_H_
#define KWEAVE_BASE_RUN_CONTROL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/stopwatch.h"
#include "kweave/context.h"
#include "kweave/summary.h"

namespace kweave {

/// Clock, limits and reports of one run. Long loops ask ShouldStop() between steps; it is cheap.
class RunControl {
 public:
  /// As long as it lives, reports are about a part of the problem, whose gap is not that of the model. Stages
  /// lie within each other.
  class Stage {
   public:
    /// `others`: the largest gap of all other parts, where this one is the last that is missing.
    Stage(RunControl& control, std::string name, std::optional<double> others = {});
    ~Stage();
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

   private:
    RunControl& control_;
  };

  explicit RunControl(const Context& context) : context_(context) {}

  /// Of everything random in the run.
  std::uint64_t seed() const { return context_.seed; }
  double Seconds() const { return watch_.Seconds(); }
  /// True once the time limit has passed or the user asked to stop; stays true. Logs the
  /// time limit; a user who asked to stop needs no message.
  bool ShouldStop();
  bool has_time_limit() const { return context_.time_limit_seconds > 0; }
  /// Seconds that certifying the answer takes, whatever it is and for every support vector: the limit comes
  /// so much earlier.
  void SetCertificateCost(double seconds, double seconds_per_vector) {
    certificate_seconds_ = seconds, seconds_per_vector_ = seconds_per_vector;
    reserved_seconds_ = seconds;
  }
  /// How many support vectors the answer would have now.
  void NoteSupport(std::int64_t vectors) {
    reserved_seconds_ = certificate_seconds_ + seconds_per_vector_ * static_cast<double>(vectors);
  }
  /// Throws Error(kResource) when the run must end: for what comes before there is a model.
  void ThrowIfStopped();
  /// kTimeLimit or kInterrupted once ShouldStop() was true.
  std::optional<Status> stop_reason() const { return stop_reason_; }
  /// Forwards to the context's progress callback, a few times a second at most. `relative_gap` is that of the
  /// current stage; the callback gets what it implies for the model.
  void Report(Progress progress);
  /// Reports the last state again with the time of now: long steps call it to show that they are alive.
  void Tick() { Report(last_progress_); }
  void Log(LogLevel level, std::string_view message) const;

 private:
  bool MustEnd();
  struct Part {
    std::string name;  // with those of the stages around it
    std::optional<double> others;
  };
  // What the gap of the current part implies for that of the model, if anything.
  std::optional<double> WholeGap(double part_gap) const;

  const Context& context_;
  std::vector<Part> stages_;  // the innermost last
  double whole_gap_ = 1;      // of the model that a stop would give
  Stopwatch watch_;
  std::optional<Status> stop_reason_;
  double certificate_seconds_ = 0, seconds_per_vector_ = 0, reserved_seconds_ = 0;
  double last_report_seconds_ = -1;
  Progress last_progress_;
};

}  // namespace kweave

#endif  // KWEAVE_BASE_RUN_CONTROL_H_
