#include "terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

#include "kweave/error.h"
#include "kweave/output_file.h"

namespace kweave::app {
namespace {

constexpr int kSignalStatus = 128;  // what shells add to the number of a signal

std::atomic<int> first_signal{0};
std::atomic<const char*> answer{nullptr};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free,
              "the signal handler must not wait");

// Whether the run asks from time to time if it is to stop; until then a signal ends it.
std::atomic<bool> asks_for_signals{false};

[[noreturn]] void End(const char* sentence, int status) {
  static_cast<void>(!::write(STDERR_FILENO, sentence, std::strlen(sentence)));
  RemoveUnfinishedFiles();
  _exit(status);
}

constexpr const char* kNoMemory = "kweave: out of memory; a smaller --memory leaves more room for the data\n";

std::atomic<bool> has_no_memory{false};  // an allocation failed
std::terminate_handler usual_termination = nullptr;

[[noreturn]] void TakeFailedAllocation() {
  has_no_memory.store(true);
  throw std::bad_alloc();
}

// Libraries allocate where nothing may be thrown: destructors of JSON do.
[[noreturn]] void TakeTermination() {
  if (has_no_memory.load()) End(kNoMemory, static_cast<int>(ErrorKind::kResource));
  usual_termination();
  std::abort();
}

struct sigaction usual_crash {};

// Nor does all code survive what is then thrown: as gcc 12 compiles them, braced lists of JSON of which some
// elements could not be made are destroyed as if they were whole. A crash of another kind is left to whoever
// took care of it before.
void TakeCrash(int) {
  if (has_no_memory.load()) End(kNoMemory, static_cast<int>(ErrorKind::kResource));
  RemoveUnfinishedFiles();
  sigaction(SIGSEGV, &usual_crash, nullptr);
}

// A page of a mapped file is gone: somebody made the file shorter.
void TakeLostPage(int) {
  End("kweave: an input file became shorter while it was read\n", static_cast<int>(ErrorKind::kData));
}

void TakeInterrupt(int signal) {
  if (!asks_for_signals.load()) End("kweave: interrupted before there was a model\n", kSignalStatus + signal);
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, signal)) {
    RemoveUnfinishedFiles();
    _exit(kSignalStatus + signal);
  }
  const char* const line = answer.load();
  if (line == nullptr) return;
  const int error = errno;  // which the interrupted code may be about to read
  static_cast<void>(!::write(STDERR_FILENO, line, std::strlen(line)));
  errno = error;
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

void CatchInterrupts() { asks_for_signals.store(true); }

void HandleSignals() {
  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  action.sa_handler = TakeInterrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    const bool is_ignored = sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
    if (!is_ignored) sigaction(signal, &action, nullptr);  // nohup asks for that
  }
  action.sa_handler = TakeLostPage;
  sigaction(SIGBUS, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has seen enough (`| head`) is no error
  std::signal(SIGXFSZ, SIG_IGN);  // the write fails, and says so
}

void HandleLackOfMemory() {
  std::set_new_handler(TakeFailedAllocation);
  usual_termination = std::set_terminate(TakeTermination);
  struct sigaction action {};
  action.sa_handler = TakeCrash;
  sigaction(SIGSEGV, &action, &usual_crash);
}

int FailWithoutMemory() {
  PrintToStderr(kNoMemory);
  return static_cast<int>(ErrorKind::kResource);
}

void CheckAddressSpace() {
  constexpr std::size_t kNeeded = std::size_t{256}
                                  << 20;  // OpenBLAS was seen to wait for ever with up to 220 MB
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  void* const probe = ::mmap(nullptr, kNeeded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) {
    throw Error(
        ErrorKind::kResource,
        fmt::format(
            "the limit on address space (ulimit -v), {} MB, leaves less than the {} MB that are needed",
            limit.rlim_cur >> 20, kNeeded >> 20));
  }
  ::munmap(probe, kNeeded);
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, two bytes in UTF-8, are control characters, too.
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool is_two = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (is_two) ++i;
    if (is_two || (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
      escaped += fmt::format("\\x{:02x}", is_two ? next : byte);
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

void AnswerInterrupts(const char* line) { answer.store(line); }

bool IsInterrupted() { return first_signal.load() != 0; }

int InterruptedStatus() { return kSignalStatus + first_signal.load(); }

void OccupyStandardStreams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    // Read only, so that what is written there fails as it would have.
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

void PrintToStderr(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void Print(std::string_view text) {
  is_output_due = true;
  Tell(text);
}

void Tell(std::string_view text) {
  const std::string escaped = Escaped(text);
  std::fwrite(escaped.data(), 1, escaped.size(), stdout);
}

int FinishOutput() {
  if (!IsLost(stdout) || !is_output_due) return 0;
  PrintToStderr(fmt::format("kweave: standard output cannot be written: {}\n", std::strerror(errno)));
  return static_cast<int>(ErrorKind::kResource);
}

void WriteText(const std::string& path, std::string_view text) {
  if (path == "-") return Print(text);
  OutputFile file(path);
  file.Write(text);
  file.Commit();
}

std::string ReadText(const std::string& path, ErrorKind kind) {
  const auto fail = [&path, kind](const char* reason) {
    throw Error(kind, fmt::format("{}: cannot be read: {}", path, reason));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "r"), std::fclose);
  if (file == nullptr) fail(std::strerror(errno));
  std::string text;
  char block[1 << 12];
  while (const std::size_t count = std::fread(block, 1, sizeof block, file.get())) text.append(block, count);
  if (std::ferror(file.get()) != 0) fail(std::strerror(errno));  // a directory opens, but reads nothing
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) fail("this file is empty");
  return text;
}

void CheckWritable(const std::string& path) {
  if (path == "-") return;
  try {
    CheckOutputFile(path);
  } catch (const Error& error) {
    throw Error(ErrorKind::kUsage, error.what());
  }
}

}  // namespace kweave::app
