#include "compute/cpu/mismatch_profile.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/mismatch_profile.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kweave::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// differing[j] = letters in which word j of z differs from the first of x.
void StartProfile(const WordWindows& x, const WordWindows& z, std::uint8_t* HWY_RESTRICT differing) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index j = 0; j < z.windows(); j += lanes) {
    auto count = hn::Set(d, static_cast<std::uint8_t>(x.letters()));
    for (int t = 0; t < x.letters(); ++t) {
      const auto is_equal = hn::Eq(hn::LoadU(d, z.bytes() + j + t), hn::Set(d, x.bytes()[t]));
      count = hn::Add(count, hn::VecFromMask(d, is_equal));
    }
    hn::StoreU(count, d, differing + j);
  }
}

// From word i - 1 of x (`before`) to word i: each pair is that of the words to the left, one letter on.
void AdvanceProfile(const WordWindows& x, const WordWindows& z, Index i,
                    const std::uint8_t* HWY_RESTRICT before, std::uint8_t* HWY_RESTRICT differing) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const int letters = x.letters();
  const auto leaving = hn::Set(d, x.bytes()[i - 1]), entering = hn::Set(d, x.bytes()[i + letters - 1]);
  for (Index j = 1; j < z.windows(); j += lanes) {
    const auto left = hn::VecFromMask(d, hn::Eq(hn::LoadU(d, z.bytes() + j - 1), leaving));
    const auto entered = hn::VecFromMask(d, hn::Eq(hn::LoadU(d, z.bytes() + j + letters - 1), entering));
    const auto count = hn::LoadU(d, before + j - 1);
    hn::StoreU(hn::Add(hn::Sub(count, left), entered), d, differing + j);
  }
  int first = 0;
  for (int t = 0; t < letters; ++t) first += x.bytes()[i + t] != z.bytes()[t];
  differing[0] = static_cast<std::uint8_t>(first);
}

void CountProfile(const WordWindows& z, const std::uint8_t* differing, std::span<std::int64_t> counts) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index j = 0; j < z.windows(); j += lanes) {
    const auto count = hn::Or(hn::LoadU(d, differing + j), hn::LoadU(d, z.is_unknown() + j));
    for (std::size_t m = 0; m < counts.size(); ++m) {
      counts[m] += static_cast<std::int64_t>(
          hn::CountTrue(d, hn::Eq(count, hn::Set(d, static_cast<std::uint8_t>(m)))));
    }
  }
}

void AddProfile(const WordWindows& x, const WordWindows& z, std::uint8_t* before, std::uint8_t* differing,
                std::span<std::int64_t> counts) {
  for (Index i = 0; i < x.windows(); ++i) {
    if (i == 0) {
      StartProfile(x, z, differing);
    } else {
      AdvanceProfile(x, z, i, before, differing);
    }
    if (x.is_unknown()[i] == 0) CountProfile(z, differing, counts);
    std::swap(before, differing);
  }
}

}  // namespace kweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
namespace {

HWY_EXPORT(AddProfile);

// The longest vector of bytes that some processor has (256 on the widest that Highway knows), and one more.
constexpr std::size_t kRoomBehind = 257;

}  // namespace

WordWindows::WordWindows(std::span<const std::uint8_t> sequence, const WordRange& range, int letters)
    : letters_(letters),
      windows_(std::max<Index>(0, std::min(range.end, range.limit - letters + 1) - range.begin)) {
  if (windows_ == 0) return;
  const auto begin = sequence.begin() + range.begin;
  bytes_.assign(begin, begin + windows_ + letters - 1);
  is_unknown_.assign(Offset(windows_), 0);
  for (Index i = 0; i < static_cast<Index>(bytes_.size()); ++i) {
    if (bytes_[Offset(i)] != kUnknownLetter) continue;
    for (Index w = std::max<Index>(0, i - letters + 1); w <= std::min(i, windows_ - 1); ++w) {
      is_unknown_[Offset(w)] = 255;
    }
  }
  bytes_.resize(bytes_.size() + kRoomBehind, kUnknownLetter);
  is_unknown_.resize(is_unknown_.size() + kRoomBehind, 255);  // so that none of them counts
}

void AddMismatchProfile(const WordWindows& x, const WordWindows& z, std::span<std::int64_t> counts) {
  if (x.windows() == 0 || z.windows() == 0) return;
  thread_local std::vector<std::uint8_t> room;
  const std::size_t size = Offset(z.windows()) + kRoomBehind;
  if (room.size() < 2 * size) room.resize(2 * size);
  HWY_DYNAMIC_DISPATCH(AddProfile)(x, z, room.data(), room.data() + size, counts);
}

}  // namespace kweave
#endif  // HWY_ONCE
