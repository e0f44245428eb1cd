#include "data/file_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/memory.h"
#include "data/decompress.h"
#include "kweave/error.h"

namespace kweave {
namespace {

[[noreturn]] void FailErrno(const std::string& path, const char* action) {
  throw Error(ErrorKind::kData,
              fmt::format("{}: cannot {} this file: {}", path, action, std::strerror(errno)));
}

/// Closes a file descriptor at the end of a scope.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path) {
    do {
      fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    } while (fd_ < 0 && errno == EINTR);  // a fifo waits for its writer
    if (fd_ < 0) FailErrno(path, "open");
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

FileBytes Own(std::string name, std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {std::move(name), *owner, owner, false};
}

FileBytes Map(const std::string& path, const Descriptor& file, std::size_t size) {
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) FailErrno(path, "map");
  std::shared_ptr<const void> owner(address, [size](void* mapped) { ::munmap(mapped, size); });
  return {path, {static_cast<const char*>(address), size}, owner, true};
}

/// Pipes and devices cannot be mapped and do not know their size, which may be endless.
std::string ReadToEnd(const std::string& path, int descriptor, std::size_t most_bytes) {
  const std::size_t limit = most_bytes > 0 ? most_bytes : AvailableMemoryBytes() / 2;
  std::string bytes;
  char block[1 << 16];
  while (true) {
    const ssize_t count = ::read(descriptor, block, sizeof block);
    if (count == 0) return bytes;
    if (count > 0) {
      bytes.append(block, static_cast<std::size_t>(count));
      if (bytes.size() > limit) {
        throw Error(
            ErrorKind::kResource,
            fmt::format("{}: there are more than {} bytes, which do not fit into memory", path, limit));
      }
    } else if (errno != EINTR) {
      FailErrno(path, "read");
    }
  }
}

FileBytes Decompressed(FileBytes file) {
  if (file.bytes.empty()) throw Error(ErrorKind::kData, fmt::format("{}: this file is empty", file.name));
  RefuseOtherCompression(file.bytes, file.name);
  const Compression compression = DetectCompression(file.bytes);
  if (compression == Compression::kNone) return file;
  FileBytes plain = Decompress(file, compression);
  if (plain.bytes.empty()) {
    throw Error(ErrorKind::kData, fmt::format("{}: decompressed, this file is empty", file.name));
  }
  return plain;
}

}  // namespace

FileBytes OpenFileBytes(const std::string& path, std::size_t most_bytes) {
  if (path == "-") {
    return Decompressed(Own("standard input", ReadToEnd("standard input", STDIN_FILENO, most_bytes)));
  }
  const Descriptor file(path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) FailErrno(path, "read");
  if (S_ISDIR(status.st_mode)) {
    throw Error(ErrorKind::kData, fmt::format("{}: this is a directory, expected a file", path));
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    return Decompressed(Map(path, file, static_cast<std::size_t>(status.st_size)));
  }
  return Decompressed(Own(path, ReadToEnd(path, file.get(), most_bytes)));
}

FileBytes MakeFileBytes(std::string name, std::string bytes) {
  return Decompressed(Own(std::move(name), std::move(bytes)));
}

}  // namespace kweave
