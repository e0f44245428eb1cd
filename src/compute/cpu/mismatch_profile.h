// In how many letters the words of two sequences differ.
//
// Solves     counts[d] = how many pairs of words of l letters, one of each sequence, differ in d letters, for
//            d = 0, 1, ..., most.
// Method     the letters in which two words differ follow from those of their neighbours to the left: one
//            letter leaves, one enters. Words of one sequence side by side in a vector of bytes are compared
//            with one word of the other at a time.
// Costs      of two sequences of 200 letters some microseconds (AVX2 and above), whatever the alphabet.
#ifndef KWEAVE_COMPUTE_CPU_MISMATCH_PROFILE_H_
#define KWEAVE_COMPUTE_CPU_MISMATCH_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/cpu/word_counts.h"
#include "kweave/index.h"

namespace kweave {

/// Words of more letters would need counts of more than a byte.
inline constexpr int kMostProfileLetters = 254;

/// The words of `letters` letters of a sequence as the profile reads them.
class WordWindows {
 public:
  WordWindows(std::span<const std::uint8_t> sequence, const WordRange& range, int letters);

  int letters() const { return letters_; }
  Index windows() const { return windows_; }
  /// Letters from the first word on, with room behind the last for a whole vector.
  const std::uint8_t* bytes() const { return bytes_.data(); }
  /// 255 for words with a letter that is not known, else 0.
  const std::uint8_t* is_unknown() const { return is_unknown_.data(); }

 private:
  int letters_;
  Index windows_;
  std::vector<std::uint8_t> bytes_, is_unknown_;
};

/// Adds to counts[0 ... most].
void AddMismatchProfile(const WordWindows& x, const WordWindows& z, std::span<std::int64_t> counts);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_MISMATCH_PROFILE_H_
