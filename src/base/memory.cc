#include "base/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/cgroup_memory.h"

namespace kweave {
namespace {

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

}  // namespace

std::size_t AvailableMemoryBytes() {
  const std::size_t free_bytes =
      std::min(MeminfoBytes("MemAvailable"), CgroupFreeBytes("/proc/self/cgroup", "/sys/fs/cgroup"));
  return free_bytes == kUnlimited ? std::size_t{4} << 30 : free_bytes;
}

std::int64_t PeakMemoryBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

void* AllocateLarge(std::size_t bytes) {
  constexpr std::size_t kCacheLine = 64, kLargePage = std::size_t{2} << 20;  // of x86-64 and of most others
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
