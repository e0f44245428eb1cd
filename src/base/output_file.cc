#include "kweave/output_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>

#include "kweave/error.h"

namespace kweave {
namespace {

constexpr std::string_view kPrefix = ".kweave-", kSuffix = ".part";
constexpr std::size_t kRandomDigits = 16;  // 64 bits: no two runs draw the same name

// What a signal handler has to remove. More files than this are never open at once.
std::array<std::atomic<const char*>, 8> unfinished{};

void Remember(const char* path) {
  for (auto& slot : unfinished) {
    const char* expected = nullptr;
    if (slot.compare_exchange_strong(expected, path)) return;
  }
}

void Forget(const char* path) {
  for (auto& slot : unfinished) {
    const char* expected = path;
    if (slot.compare_exchange_strong(expected, nullptr)) return;
  }
}

// The result of a call of the system that was not interrupted by a signal.
template <class Call>
int Retried(Call call) {
  int result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

std::string TemporaryName() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    number = static_cast<std::uint64_t>(::getpid()) << 32 ^ static_cast<std::uint64_t>(std::clock());
  }
  return fmt::format("{}{:0{}x}{}", kPrefix, number, kRandomDigits, kSuffix);
}

bool IsTemporaryName(std::string_view name) {
  if (name.size() != kPrefix.size() + kRandomDigits + kSuffix.size()) return false;
  return name.starts_with(kPrefix) && name.ends_with(kSuffix) &&
         std::ranges::all_of(name.substr(kPrefix.size(), kRandomDigits),
                             [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// The process that writes a temporary file holds a lock on it, which ends with the process; the age covers
// the moment before it is locked.
void RemoveIfStale(const std::string& path) {
  constexpr std::time_t kSecondsToLock = 60;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status {};
  const bool is_ours = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_uid == ::geteuid() && std::time(nullptr) - status.st_mtime > kSecondsToLock;
  if (is_ours && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  ::close(descriptor);
}

// Names are put together as text, as a std::filesystem::path takes a dozen allocations, for every file of a
// folder.
std::string Joined(const std::string& folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void RemoveStaleFiles(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (entries == nullptr) return;
  while (const dirent* const entry = ::readdir(entries.get())) {
    if (IsTemporaryName(entry->d_name)) RemoveIfStale(Joined(folder, entry->d_name));
  }
}

// Where a link points to; empty where there is no link.
std::string LinkTarget(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  return size <= 0 ? "" : std::string(target, static_cast<std::size_t>(size));
}

}  // namespace

std::string FinalPath(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  std::string place = path;
  for (int k = 0; k < kMostLinks; ++k) {
    const std::string target = LinkTarget(place);
    if (target.empty()) break;
    place = target.starts_with('/') ? target : Joined(FolderOf(place), target);
  }
  return place;
}

OutputFile::OutputFile(const std::string& path) : path_(path), final_(FinalPath(path)) {
  struct stat status {};
  const bool exists = ::stat(final_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    Fail();
  }
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = Retried([&] { return ::open(final_.c_str(), O_WRONLY | O_CLOEXEC); });
    if (descriptor_ < 0) Fail();
    return;
  }
  RemoveStaleFiles(FolderOf(final_));
  OpenTemporary();
  if (!exists) return;
  // Owner first: a change of owner takes away special bits of the mode. Only root may give files away.
  if (status.st_uid != ::geteuid() || status.st_gid != ::getegid()) {
    static_cast<void>(!::fchown(descriptor_, status.st_uid, status.st_gid));
  }
  ::fchmod(descriptor_, status.st_mode & 07777);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  Forget(temporary_.c_str());
}

void OutputFile::OpenTemporary() {
  const std::string folder = FolderOf(final_);
  do {
    temporary_ = Joined(folder, TemporaryName());
    descriptor_ = Retried([&] {
      return ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    });
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    temporary_.clear();
    Fail();
  }
  Remember(temporary_.c_str());
  ::flock(descriptor_, LOCK_EX | LOCK_NB);
}

void OutputFile::Write(std::string_view bytes) {
  constexpr std::size_t kBufferBytes = 1 << 16;  // fewer calls than lines
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) Flush();
}

void OutputFile::Flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE && temporary_.empty()) {
      break;  // a reader that has seen enough
    } else if (errno != EINTR) {
      Fail();
    }
  }
  buffer_.clear();
}

void OutputFile::Commit() {
  Flush();
  // Pipes and devices cannot be synced (EINVAL), which is no failure.
  if (Retried([&] { return ::fsync(descriptor_); }) != 0 && errno != EINVAL && errno != EROFS) Fail();
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0 && errno != EINTR) Fail();  // interrupted, it is closed on Linux
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), final_.c_str()) != 0) Fail();
  Forget(temporary_.c_str());
  temporary_.clear();
}

void OutputFile::Fail() const {
  throw Error(ErrorKind::kResource, fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

void CheckOutputFile(const std::string& path) {
  struct stat status {};
  const bool is_pipe =
      ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  if (!is_pipe) OutputFile probe(path);  // to open a pipe would wait for its reader
}

void RemoveUnfinishedFiles() {
  for (auto& slot : unfinished) {
    const char* path = slot.load();
    if (path != nullptr) ::unlink(path);
  }
}

}  // namespace kweave
