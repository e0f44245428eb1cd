#ifndef KWEAVE_BASE_MEMORY_H_
#define KWEAVE_BASE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
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

/// Memory that starts on a cache line or, when large, on a large page, where the system offers those: page
/// faults and address look-ups of long rows would cost as much as reading them. Throws std::bad_alloc.
void* AllocateLarge(std::size_t bytes);
void FreeLarge(void* block);

/// `count` uninitialised values of a plain type in such memory.
template <class T>
class LargeBuffer {
 public:
  LargeBuffer() = default;
  explicit LargeBuffer(std::size_t count) : values_(static_cast<T*>(AllocateLarge(count * sizeof(T)))) {}
  T* data() const { return values_.get(); }

 private:
  struct Free {
    void operator()(T* values) const { FreeLarge(values); }
  };
  std::unique_ptr<T, Free> values_;
};

/// One block that outlives its users, one after the other: pages touched once need not be provided again.
class MemoryReserve {
 public:
  /// At least `bytes`, uninitialised, valid until the next call.
  void* Take(std::size_t bytes) {
    if (bytes > size_) {
      block_ = {};
      block_ = LargeBuffer<std::byte>(bytes);
      size_ = bytes;
    }
    return block_.data();
  }
  /// Gives the block back.
  void Release() {
    block_ = {};
    size_ = 0;
  }

 private:
  std::size_t size_ = 0;
  LargeBuffer<std::byte> block_;
};

}  // namespace kweave

#endif  // KWEAVE_BASE_MEMORY_H_
