#ifndef KWEAVE_CONTEXT_H_
#define KWEAVE_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace kweave {

enum class LogLevel {
  kWarning,  ///< the user should know, even when quiet mode hides notes
  kNote,     ///< one line about a choice that was made
  kDetail,   ///< what `-v` shows
};

using LogSink = std::function<void(LogLevel, std::string_view)>;

/// What a long computation says about itself between steps.
struct Progress {
  double seconds = 0;       ///< since training began
  double relative_gap = 1;  ///< the best estimate so far
  double target_gap = 0;
  std::int64_t iterations = 0;  ///< moves of theta
  std::int64_t solves = 0;      ///< inner solves begun
  std::string_view phase;       ///< "kernels", "solve", "weights", "certificate"
};

/// Everything a computation takes from its surroundings, passed explicitly and never stored globally.
struct Context {
  int threads = 0;               ///< 0: all cores the process may use
  std::size_t memory_bytes = 0;  ///< beside the data as read; 0: half of what is free (cgroups too)
  std::uint64_t seed = 0;
  double time_limit_seconds = 0;                  ///< 0: none
  LogSink log;                                    ///< may be empty
  std::function<void(const Progress&)> progress;  ///< may be empty; called a few times a second at most
  std::function<bool()>
      stop_requested;  ///< may be empty; polled several times a second; if it throws, so does the run
};

}  // namespace kweave

#endif  // KWEAVE_CONTEXT_H_
