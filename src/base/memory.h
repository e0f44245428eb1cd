#ifndef KWEAVE_BASE_MEMORY_H_
#define KWEAVE_BASE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace kweave {

/// Bytes this process could still take: free and reclaimable memory, cgroup limits respected.
std::size_t AvailableMemoryBytes();

/// The high-water mark of this process's resident memory, as the operating system counts it.
std::int64_t PeakMemoryBytes();

/// Allocator for vectors that SIMD loops read: every block starts on a cache line.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* pointer, std::size_t) { ::operator delete (pointer, std::align_val_t{64}); }
  template <class U>
  bool operator==(const CacheLineAllocator<U>&) const {
    return true;
  }
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace kweave

#endif  // KWEAVE_BASE_MEMORY_H_
