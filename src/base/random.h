#ifndef KWEAVE_BASE_RANDOM_H_
#define KWEAVE_BASE_RANDOM_H_

#include <cstdint>

namespace kweave {

/// SplitMix64 (Steele, Lea, Flood 2014): small, seeded, the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  /// Uniform in 0 .. bound - 1.
  std::int64_t Below(std::int64_t bound) {
    return static_cast<std::int64_t>(Uniform() * static_cast<double>(bound));
  }

 private:
  std::uint64_t state_;
};

}  // namespace kweave

#endif  // KWEAVE_BASE_RANDOM_H_
