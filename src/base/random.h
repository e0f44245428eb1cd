#ifndef KWEAVE_BASE_RANDOM_H_
#define KWEAVE_BASE_RANDOM_H_

#include <cstdint>
#include <vector>

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

/// `count` of the numbers 0 .. size - 1, ascending; every subset of that size is equally likely.
inline std::vector<std::int64_t> RandomSubset(std::int64_t size, std::int64_t count, Random& random) {
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < size; ++i) {
    if (random.Below(size - i) < count - static_cast<std::int64_t>(chosen.size())) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace kweave

#endif  // KWEAVE_BASE_RANDOM_H_
