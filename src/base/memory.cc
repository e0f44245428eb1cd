#include "base/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace kweave {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// A number in a one-value file; `kUnlimited` when the file is missing or says "max".
std::size_t ReadBytes(const char* path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word) || word == "max") return kUnlimited;
  return std::strtoull(word.c_str(), nullptr, 10);
}

// A field of /proc/meminfo in bytes.
std::size_t MeminfoBytes(const std::string& field) {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  std::size_t kilobytes = 0;
  while (file >> name >> kilobytes) {
    std::getline(file, unit);
    if (name == field + ":") return kilobytes * 1024;
  }
  return kUnlimited;
}

std::size_t CgroupFreeBytes() {
  const std::size_t limit = ReadBytes("/sys/fs/cgroup/memory.max");
  const std::size_t used = ReadBytes("/sys/fs/cgroup/memory.current");
  if (limit == kUnlimited || used == kUnlimited) return limit;
  return limit > used ? limit - used : 0;
}

}  // namespace

std::size_t AvailableMemoryBytes() {
  const std::size_t free_bytes = std::min(MeminfoBytes("MemAvailable"), CgroupFreeBytes());
  return free_bytes == kUnlimited ? std::size_t{4} << 30 : free_bytes;
}

std::int64_t PeakMemoryBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

void* AllocateLarge(std::size_t bytes) {
  constexpr std::size_t kCacheLine = 64, kLargePage = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= 2 * kLargePage ? kLargePage : kCacheLine;
  const std::size_t whole_bytes = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, whole_bytes);
  if (block == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (alignment == kLargePage) madvise(block, whole_bytes, MADV_HUGEPAGE);
#endif
  return block;
}

void FreeLarge(void* block) { std::free(block); }

}  // namespace kweave
