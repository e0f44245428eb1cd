/// What a computation takes from its surroundings: threads, memory, seed, limits, and where it reports to.
///
///     kweave::Context context;
///     context.threads = 4;
///     context.time_limit_seconds = 60;
///     context.log = [](kweave::LogLevel, std::string_view line) { std::cerr << line << '\n'; };
///     const kweave::Model model = kweave::Train(data, options, context);
///
/// The library itself never prints, never reads environment variables and keeps nothing between calls.
#ifndef KWEAVE_CONTEXT_H_
#define KWEAVE_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace kweave {

/// How much a line matters.
enum class LogLevel {
  kWarning,  ///< the user should know, even when quiet mode hides notes
  kNote,     ///< one line about a choice that was made
  kDetail,   ///< what `-v` shows
};

/// Takes one line, without its end.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// What a long computation says about itself between steps.
struct Progress {
  double seconds = 0;  ///< since training began
  /// Of the model that a stop would give, as estimated; 1 as long as nothing is known of it.
  double relative_gap = 1;
  double target_gap = 0;        ///< where training ends
  std::int64_t iterations = 0;  ///< moves of theta
  std::int64_t solves = 0;      ///< inner solves begun
  std::string_view phase;       ///< "kernels", "solve", "weights", "certificate"
  /// What is solved first, such as "512 of 4096 samples" or "machine 2 of 10"; empty: the whole problem.
  std::string_view stage = {};
  double stage_gap = 1;  ///< the gap of that; without a stage `relative_gap`
};

/// Everything a computation takes from its surroundings, passed explicitly and never stored globally.
struct Context {
  int threads = 0;               ///< 0: all cores the process may use
  std::size_t memory_bytes = 0;  ///< beside the data as read; 0: half of what is free (cgroups too)
  /// Of everything random: samples that widths and variances are estimated from, samples that learning starts
  /// with, other starts of products, landmarks of preconditioners. Same seed and same number of threads: same
  /// result.
  std::uint64_t seed = 0;
  double time_limit_seconds = 0;                  ///< 0: none
  LogSink log;                                    ///< may be empty
  std::function<void(const Progress&)> progress;  ///< may be empty; called a few times a second at most
  /// May be empty; polled several times a second. If it throws, so does the run.
  std::function<bool()> stop_requested;
};

}  // namespace kweave

#endif  // KWEAVE_CONTEXT_H_
