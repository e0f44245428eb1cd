#include "hooks.h"

#include <utility>

#include "kweave/error.h"
#include "options.h"

namespace kweave::python {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};  // a key pressed to stop seems answered at once

}  // namespace

Hooks::Hooks(const py::dict& run) : progress_(run["progress"]), log_(run["log"]) {
  context_.threads = run["threads"].cast<int>();
  context_.memory_bytes = run["memory_bytes"].cast<std::size_t>();
  context_.seed = run["seed"].cast<std::uint64_t>();
  context_.time_limit_seconds = run["time_limit"].cast<double>();
  context_.stop_requested = [this] { return IsStopRequested(); };
  if (!progress_.is_none()) context_.progress = [this](const Progress& progress) { ShowProgress(progress); };
  if (!log_.is_none()) {
    context_.log = [this](LogLevel level, std::string_view message) { Log(level, message); };
  }
}

template <class Function>
void Hooks::Guarded(Function call) {
  if (has_raised_) return;
  const py::gil_scoped_acquire locked;
  try {
    call();
  } catch (py::error_already_set&) {
    if (!raised_) raised_ = std::current_exception();
    has_raised_ = true;
  }
}

void Hooks::ShowProgress(const Progress& progress) {
  Guarded([&] {
    py::dict info;
    info["seconds"] = progress.seconds;
    info["relative_gap"] = progress.relative_gap;
    info["target_gap"] = progress.target_gap;
    info["iterations"] = progress.iterations;
    info["solves"] = progress.solves;
    info["phase"] = std::string(progress.phase);
    info["stage"] = std::string(progress.stage);
    info["stage_gap"] = progress.stage_gap;
    if (PyObject_IsTrue(progress_(info).ptr()) == 1) stops_ = true;
  });
}

void Hooks::Log(LogLevel level, std::string_view message) {
  Guarded([&] { log_(static_cast<int>(level), WithParameters(message)); });
}

bool Hooks::IsStopRequested() {
  const auto now = std::chrono::steady_clock::now();
  // Signals arrive in the main thread, or nowhere.
  if (std::this_thread::get_id() == caller_ && now - last_look_ >= kBetweenLooks) {
    last_look_ = now;
    Guarded([] {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    });
  }
  if (has_raised_) throw Error(ErrorKind::kResource, "an exception of Python ended the run");
  return stops_;
}

void Hooks::ThrowRaised() {
  if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
}

}  // namespace kweave::python
