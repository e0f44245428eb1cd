// A library to be preloaded (LD_PRELOAD) that lets calls of the system fail, so that tests see what the
// program makes of it. KWEAVE_FAULT says which:
//
//     memory:K     the K-th allocation since main began fails;  memory:K+  that one and all after it
//     thread:K     the K-th start of a thread fails
//     full:K       the K-th write to a file finds the disk full
//     sync:K       the K-th fsync fails;  rename:K, open:K, close:K likewise
//     read:K       the K-th read fails
//     short        reads and writes take half of what they could
//     interrupt    every other read, write, open, fsync and close is interrupted by a signal (EINTR)
//     clock:K:S    from the K-th look at a clock on all clocks are S seconds ahead (or, below 0, behind)
//     slow:U       writes, fsync and rename take U microseconds longer
//
// KWEAVE_FAULT_COUNTS names a file that receives, when main returns, how often each was asked for: a line
// "KIND COUNT" for each.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

enum Kind { kMemory, kThread, kFull, kSync, kRename, kOpen, kClose, kRead, kClock, kKinds };
constexpr const char* kNames[kKinds] = {"memory", "thread", "full", "sync", "rename",
                                        "open",   "close",  "read", "clock"};

// Set once, before main begins.
int kind = -1;
long at = 0;         // which call; 0: none
bool stays = false;  // and all after it
long clock_seconds = 0;
bool is_short = false;
bool interrupts = false;
useconds_t slow = 0;

std::atomic<bool> is_armed{false};
std::atomic<long> counts[kKinds];
std::atomic<unsigned> interruptions{0};

// Whether this call is one that fails.
bool Fails(Kind asked) {
  if (!is_armed.load(std::memory_order_relaxed)) return false;
  const long number = counts[asked].fetch_add(1) + 1;
  return asked == kind && at > 0 && (stays ? number >= at : number == at);
}

bool IsInterrupted() {
  if (!interrupts || !is_armed.load() || interruptions.fetch_add(1) % 2 != 0) return false;
  errno = EINTR;
  return true;
}

std::size_t Shortened(std::size_t size) { return is_short && is_armed.load() && size > 1 ? size / 2 : size; }

int Fail(int error) {
  errno = error;
  return -1;
}

template <class Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void ReadFault() {
  const char* text = std::getenv("KWEAVE_FAULT");
  if (text == nullptr) return;
  is_short = std::strcmp(text, "short") == 0;
  interrupts = std::strcmp(text, "interrupt") == 0;
  const char* colon = std::strchr(text, ':');
  if (colon == nullptr) return;
  char* end = nullptr;
  const long number = std::strtol(colon + 1, &end, 10);
  const std::size_t length = static_cast<std::size_t>(colon - text);
  if (length == 4 && std::strncmp(text, "slow", length) == 0) slow = static_cast<useconds_t>(number);
  for (int k = 0; k < kKinds; ++k) {
    if (std::strlen(kNames[k]) == length && std::strncmp(text, kNames[k], length) == 0) kind = k;
  }
  at = number;
  stays = *end == '+' || kind == kClock;
  if (*end == ':') clock_seconds = std::strtol(end + 1, nullptr, 10);
}

void WriteCounts() {
  const char* path = std::getenv("KWEAVE_FAULT_COUNTS");
  if (path == nullptr) return;
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return;
  for (int k = 0; k < kKinds; ++k) std::fprintf(file, "%s %ld\n", kNames[k], counts[k].load());
  std::fclose(file);
}

int (*real_main)(int, char**, char**) = nullptr;

int ArmedMain(int argc, char** argv, char** environment) {
  ReadFault();
  is_armed.store(true);
  const int status = real_main(argc, argv, environment);
  is_armed.store(false);
  WriteCounts();
  return status;
}

}  // namespace

extern "C" {

// What the loader and the libraries do before main is none of the program's business.
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  real_main = main;
  return Next<decltype(__libc_start_main)>("__libc_start_main")(ArmedMain, argc, argv, init, fini,
                                                                loader_fini, stack_end);
}

void* malloc(std::size_t size) {
  if (!Fails(kMemory)) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}

void* calloc(std::size_t count, std::size_t size) {
  if (!Fails(kMemory)) return __libc_calloc(count, size);
  errno = ENOMEM;
  return nullptr;
}

void* realloc(void* block, std::size_t size) {
  if (!Fails(kMemory)) return __libc_realloc(block, size);
  errno = ENOMEM;
  return nullptr;
}

void* memalign(std::size_t alignment, std::size_t size) {
  if (!Fails(kMemory)) return __libc_memalign(alignment, size);
  errno = ENOMEM;
  return nullptr;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (Fails(kMemory)) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  if (Fails(kThread)) return EAGAIN;
  return Next<decltype(pthread_create)>("pthread_create")(thread, attributes, start, argument);
}

ssize_t read(int descriptor, void* bytes, std::size_t size) {
  if (IsInterrupted()) return -1;
  if (Fails(kRead)) return Fail(EIO);
  return Next<decltype(read)>("read")(descriptor, bytes, Shortened(size));
}

ssize_t write(int descriptor, const void* bytes, std::size_t size) {
  if (descriptor > STDERR_FILENO) {
    if (IsInterrupted()) return -1;
    if (slow > 0 && is_armed.load()) ::usleep(slow);
    if (Fails(kFull)) return Fail(ENOSPC);
    size = Shortened(size);
  }
  return Next<decltype(write)>("write")(descriptor, bytes, size);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (IsInterrupted()) return -1;
  if (Fails(kOpen)) return Fail(EMFILE);
  return Next<int(const char*, int, ...)>("open")(path, flags, mode);
}

int fsync(int descriptor) {
  if (IsInterrupted()) return -1;
  if (slow > 0 && is_armed.load()) ::usleep(slow);
  if (Fails(kSync)) return Fail(EIO);
  return Next<decltype(fsync)>("fsync")(descriptor);
}

// As on Linux: what is interrupted is closed nevertheless.
int close(int descriptor) {
  const int result = Next<decltype(close)>("close")(descriptor);
  if (descriptor <= STDERR_FILENO || result != 0) return result;
  if (IsInterrupted()) return -1;
  return Fails(kClose) ? Fail(EIO) : result;
}

int rename(const char* from, const char* to) noexcept {
  if (slow > 0 && is_armed.load()) ::usleep(slow);
  if (Fails(kRename)) return Fail(EACCES);
  return Next<int(const char*, const char*)>("rename")(from, to);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static auto* const kNext = Next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = kNext(clock, time);
  if (Fails(kClock)) time->tv_sec += clock_seconds;
  return result;
}

std::time_t time(std::time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
