#include "terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "kweave/error.h"

namespace kweave::app {
namespace {

std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free, "the signal handler must not wait");

void CountInterrupt(int) {
  if (interrupts.fetch_add(1) > 0) _exit(130);
}

bool is_output_due = false;  // whether standard output was to hold what the user asked for

// Only a broken pipe is forgiven.
bool IsLost(std::FILE* file) { return (std::fflush(file) != 0 || std::ferror(file)) && errno != EPIPE; }

}  // namespace

double SecondsSinceStart() {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point start = Clock::now();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = CountInterrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool IsInterrupted() { return interrupts.load() > 0; }

void ThrowIfInterrupted() {
  if (IsInterrupted()) throw Interrupted();
}

void IgnoreBrokenPipes() { std::signal(SIGPIPE, SIG_IGN); }

void OccupyStandardStreams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    // Read only, so that what is written there fails as it would have.
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

void Complain(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void Print(std::string_view text) {
  is_output_due = true;
  Tell(text);
}

void Tell(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int FinishOutput() {
  if (!IsLost(stdout) || !is_output_due) return 0;
  Complain(fmt::format("kweave: standard output cannot be written: {}\n", std::strerror(errno)));
  return static_cast<int>(ErrorKind::kResource);
}

void WriteText(const std::string& path, std::string_view text) {
  if (path == "-") return Print(text);
  std::FILE* file = std::fopen(path.c_str(), "w");
  bool is_lost = file == nullptr;
  if (file != nullptr) {
    is_lost = std::fwrite(text.data(), 1, text.size(), file) != text.size() || IsLost(file);
    is_lost = std::fclose(file) != 0 || is_lost;
  }
  if (is_lost) {
    throw Error(ErrorKind::kResource, fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
}

void CheckWritable(const std::string& path) {
  if (path == "-") return;
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: cannot be written: it is a directory", path));
  }
  if (exists && !S_ISREG(status.st_mode)) return;
  // A model is written beside its final name, so it is the directory that must take a new file.
  const std::string probe = fmt::format("{}.probe-{}", path, ::getpid());
  const int descriptor = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  ::close(descriptor);
  ::unlink(probe.c_str());
}

}  // namespace kweave::app
