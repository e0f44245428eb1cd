#ifndef KWEAVE_BASE_HASH_INDEX_H_
#define KWEAVE_BASE_HASH_INDEX_H_

#include <cstdint>
#include <vector>

namespace kweave {

/// Mixes one more value into a hash, upper bits into lower ones too.
inline std::uint64_t MixHash(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 32);
}

/// Finds entries of a list by their content without a second copy of it: open addressing over (hash, index).
class HashIndex {
 public:
  /// The index inserted with this hash for which matches(index) holds; -1 when there is none.
  template <class Matches>
  std::int32_t Find(std::uint64_t hash, const Matches& matches) const {
    if (slots_.empty()) return -1;
    for (std::size_t s = hash & (slots_.size() - 1);; s = (s + 1) & (slots_.size() - 1)) {
      if (slots_[s].index < 0) return -1;
      if (slots_[s].hash == hash && matches(slots_[s].index)) return slots_[s].index;
    }
  }

  void Insert(std::uint64_t hash, std::int32_t index) {
    if (2 * count_ >= slots_.size()) Grow();
    Place({hash, index});
    ++count_;
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::int32_t index = -1;
  };

  void Place(const Slot& entry) {
    std::size_t s = entry.hash & (slots_.size() - 1);
    while (slots_[s].index >= 0) s = (s + 1) & (slots_.size() - 1);
    slots_[s] = entry;
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 4 * slots_.size());
    old.swap(slots_);
    for (const Slot& entry : old) {
      if (entry.index >= 0) Place(entry);
    }
  }

  std::vector<Slot> slots_;  ///< a power of two, at most half full
  std::size_t count_ = 0;
};

}  // namespace kweave

#endif  // KWEAVE_BASE_HASH_INDEX_H_
