#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "terminal.h"

namespace kweave::app {

ProgressLine::ProgressLine(bool is_wanted) : is_shown_(is_wanted && ::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { Clear(); }

void ProgressLine::Show(const Progress& progress) {
  if (!is_shown_) return;
  std::string line =
      progress.stage.empty()
          ? fmt::format("{}  gap {:.1e} (target {:.0e})  step {}  {:.0f} s", progress.phase,
                        progress.relative_gap, progress.target_gap, progress.iterations, progress.seconds)
          : fmt::format("{}  {}: gap {:.1e}  step {}  {:.0f} s", progress.phase, progress.stage,
                        progress.stage_gap, progress.iterations, progress.seconds);
  if (const double left = SecondsLeft(progress); left >= 0)
    line += fmt::format(", about {:.0f} s left", left);
  const std::size_t width = line.size();
  line.resize(std::max(width, width_), ' ');
  width_ = width;
  PrintToStderr(fmt::format("\r{}", line));
}

void ProgressLine::Clear() {
  if (width_ == 0) return;
  PrintToStderr(fmt::format("\r{:{}}\r", "", width_));
  width_ = 0;
}

double ProgressLine::SecondsLeft(const Progress& progress) {
  const double gap = progress.relative_gap;
  if (!(gap > 0 && gap < 1) || progress.target_gap <= 0) return -1;
  if (first_gap_ == 0) {
    first_gap_ = gap;
    first_seconds_ = progress.seconds;
    return -1;
  }
  const double elapsed = progress.seconds - first_seconds_;
  if (gap >= first_gap_ || elapsed <= 0) return -1;
  const double rate = std::log(first_gap_ / gap) / elapsed;
  return std::max(0.0, std::log(gap / progress.target_gap) / rate);
}

}  // namespace kweave::app
