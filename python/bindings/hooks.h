// What a run of the core asks of Python while it holds no interpreter lock: progress, log lines, and whether
// to stop.
#ifndef KWEAVE_PYTHON_HOOKS_H_
#define KWEAVE_PYTHON_HOOKS_H_

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "kweave/context.h"

namespace kweave::python {

namespace py = pybind11;

/// The surroundings of one run, from {"threads", "memory_bytes", "seed", "time_limit", "progress", "log"}.
/// `progress` takes a dictionary and stops the run by returning True; `log` takes level and message. Signals
/// are looked for as long as the run lasts, so that Ctrl-C ends it wherever it is.
class Hooks {
 public:
  explicit Hooks(const py::dict& run);
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  const Context& context() const { return context_; }
  /// Calls `run(context)` without the interpreter lock. An exception of Python raised meanwhile (by a hook,
  /// or KeyboardInterrupt) stops the run and is thrown instead of its result.
  template <class Run>
  auto Call(Run run) {
    try {
      auto result = [&] {
        const py::gil_scoped_release unlocked;
        return run(context_);
      }();
      ThrowRaised();
      return result;
    } catch (...) {
      ThrowRaised();
      throw;
    }
  }

 private:
  void ShowProgress(const Progress& progress);
  void Log(LogLevel level, std::string_view message);
  /// Throws once an exception of Python was raised, so that the run ends wherever it is.
  bool IsStopRequested();
  void ThrowRaised();
  /// Calls `call` with the interpreter lock; what it raises stops the run.
  template <class Function>
  void Guarded(Function call);

  Context context_;
  py::object progress_, log_;
  std::atomic<bool> stops_ = false;       // the best model so far is wanted
  std::atomic<bool> has_raised_ = false;  // no model is
  std::exception_ptr raised_;             // guarded by the interpreter lock
  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
};

}  // namespace kweave::python

#endif  // KWEAVE_PYTHON_HOOKS_H_
