// Parts of sequences that kernels work on: `@seq[1..60]`, `@seq[-15..]`, `@seq[at 12]`.
#ifndef KWEAVE_KERNEL_REGION_H_
#define KWEAVE_KERNEL_REGION_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernel/kernel_set.h"
#include "kweave/index.h"

namespace kweave {

/// Letters first to last, counted from 1, or from the end by negative numbers (-1: the last letter); in a
/// sequence that is shorter, what it has of them.
struct Region {
  std::int32_t first = 1, last = -1;
  /// Words begin at these letters and may go on behind them; false: words lie within them.
  bool holds_starts = false;
};

/// What a region is of one sequence: words begin at positions [begin, end), from 0, and none has a letter at
/// `limit` or behind it.
struct LetterRange {
  Index begin = 0, end = 0, limit = 0;
};

inline LetterRange Resolve(const Region& region, Index length) {
  const auto place = [&](Index number) { return number > 0 ? number - 1 : length + number; };
  const Index begin = std::clamp<Index>(place(region.first), 0, length);
  const Index end = std::clamp<Index>(place(region.last) + 1, begin, length);
  return {begin, end, region.holds_starts ? length : end};
}

/// As the subset of features of a kernel on sequences; that of all letters is empty.
inline FeatureSubset ToSubset(const Region& region) {
  if (region.first == 1 && region.last == -1) return {};
  return {region.first, region.last, region.holds_starts ? 1 : 0};
}
inline Region RegionOf(const FeatureSubset& subset) {
  if (subset.empty()) return {};
  return {subset[0], subset[1], subset[2] != 0};
}
/// Whether a list can be a region.
inline bool IsRegion(const FeatureSubset& subset) {
  return subset.empty() ||
         (subset.size() == 3 && subset[0] != 0 && subset[1] != 0 && (subset[2] == 0 || subset[2] == 1));
}

/// As the kernel language writes it, without the brackets.
inline std::string DescribeRegion(const Region& region) {
  std::string text = region.holds_starts ? "at " : "";
  text += std::to_string(region.first);
  if (region.last == region.first) return text;
  text += "..";
  return region.last == -1 ? text : text + std::to_string(region.last);
}

}  // namespace kweave

#endif  // KWEAVE_KERNEL_REGION_H_
