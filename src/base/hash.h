#ifndef KWEAVE_BASE_HASH_H_
#define KWEAVE_BASE_HASH_H_

#include <cstdint>

namespace kweave {

/// Mixes one more value into a hash; every bit of both moves the upper half of the result.
inline std::uint64_t MixHash(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 29);
}

}  // namespace kweave

#endif  // KWEAVE_BASE_HASH_H_
