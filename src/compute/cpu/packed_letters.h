// Sequences as loops read them: letters packed into words, and what a run of equal letters is worth.
#ifndef KWEAVE_COMPUTE_CPU_PACKED_LETTERS_H_
#define KWEAVE_COMPUTE_CPU_PACKED_LETTERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/offset.h"
#include "kweave/index.h"

namespace kweave {

/// Sequences. Each starts at a word of its own, its first letter in the lowest bits; a word
/// holds as many whole letters as fit. Bits behind the last letter may be anything.
struct PackedLetters {
  const std::uint64_t* words = nullptr;
  std::span<const Index> offsets;  ///< first word of every sequence; its size is their number
  Index length = 0;                ///< letters of every sequence, or of the longest
  int bits = 2;                    ///< of a letter, 1 to 16
  /// Letters that equal none, not even themselves: entries unknown_begin[i] to unknown_begin[i + 1] are the
  /// positions in sequence i, ascending. Empty: there are none.
  std::span<const Index> unknown_begin = {};
  std::span<const std::int32_t> unknown = {};
  std::span<const std::int32_t> lengths = {};  ///< letters of each; empty: all have `length`

  Index LengthOf(Index i) const { return lengths.empty() ? length : lengths[Offset(i)]; }
  Index size() const { return static_cast<Index>(offsets.size()); }
  int per_word() const { return 64 / bits; }
  std::uint64_t letter(Index i, Index position) const {
    const std::uint64_t word = words[offsets[Offset(i)] + position / per_word()];
    return (word >> (bits * static_cast<int>(position % per_word()))) & ((std::uint64_t{1} << bits) - 1);
  }
  std::span<const std::int32_t> UnknownOf(Index i) const {
    if (unknown_begin.empty()) return {};
    const Index begin = unknown_begin[Offset(i)], end = unknown_begin[Offset(i) + 1];
    return unknown.subspan(Offset(begin), Offset(end - begin));
  }
};

/// Some of the sequences, in this order. The letters stay where they are.
class SelectedLetters {
 public:
  SelectedLetters(const PackedLetters& all, std::span<const Index> samples) : letters_(all) {
    for (const Index i : samples) {
      offsets_.push_back(all.offsets[Offset(i)]);
      if (!all.lengths.empty()) lengths_.push_back(all.lengths[Offset(i)]);
      if (all.unknown.empty()) continue;
      unknown_begin_.push_back(static_cast<Index>(unknown_.size()));
      const std::span<const std::int32_t> unknown = all.UnknownOf(i);
      unknown_.insert(unknown_.end(), unknown.begin(), unknown.end());
    }
    if (!all.unknown.empty()) unknown_begin_.push_back(static_cast<Index>(unknown_.size()));
    letters_.offsets = offsets_;
    letters_.unknown_begin = unknown_begin_;
    letters_.unknown = unknown_;
    letters_.lengths = lengths_;
  }
  SelectedLetters(const SelectedLetters&) = delete;
  SelectedLetters& operator=(const SelectedLetters&) = delete;

  const PackedLetters& letters() const { return letters_; }

 private:
  PackedLetters letters_;
  std::vector<Index> offsets_, unknown_begin_;
  std::vector<std::int32_t> unknown_, lengths_;
};

/// The learned kernel of a family of weighted degrees: the value of two sequences is the sum over positions i
/// and orders k of c(i, k) wherever the k letters from i on are equal.
class RunWeights {
 public:
  RunWeights() = default;
  RunWeights(Index length, int degree)
      : length_(length), degree_(degree), values_(Offset(length) * Offset(degree + 1), 0.0) {}

  Index length() const { return length_; }
  int degree() const { return degree_; }
  /// Adds to c(i, k), 1 <= k <= degree; words that do not fit count nothing.
  void Add(Index position, int order, double value) {
    if (position + order <= length_) values_[Place(position, order)] += value;
  }
  double at(Index position, int order) const { return values_[Place(position, order)]; }
  /// c(i, 0) = 0, c(i, 1), ..., c(i, degree).
  const double* row(Index position) const { return values_.data() + Place(position, 0); }

  /// Sums over the orders up to r, for every position: what a run of r letters that begins there is worth.
  template <class T>
  std::vector<T> Cumulated() const {
    std::vector<T> sums(values_.size());
    for (Index i = 0; i < length_; ++i) {
      double sum = 0;
      for (int k = 0; k <= degree_; ++k) sums[Place(i, k)] = static_cast<T>(sum += at(i, k));
    }
    return sums;
  }
  /// Whether every word of k letters counts the same, wherever it fits.
  bool IsSameEverywhere() const {
    for (Index i = 1; i < length_; ++i) {
      for (int k = 1; k <= degree_ && i + k <= length_; ++k) {
        if (at(i, k) != at(0, k)) return false;
      }
    }
    return true;
  }
  /// Positions [first, last) outside of which all is 0.
  struct Range {
    Index first = 0, last = 0;
  };
  Range Positions() const {
    Range range{length_, 0};
    for (Index i = 0; i < length_; ++i) {
      if (!HasAny(i)) continue;
      if (range.last == 0) range.first = i;
      range.last = i + 1;
    }
    return range.last == 0 ? Range{} : range;
  }
  bool HasAny(Index position) const {
    for (int k = 1; k <= degree_; ++k) {
      if (at(position, k) != 0) return true;
    }
    return false;
  }

 private:
  std::size_t Place(Index position, int order) const {
    return Offset(position) * Offset(degree_ + 1) + Offset(order);
  }

  Index length_ = 0;
  int degree_ = 0;
  std::vector<double> values_;
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_PACKED_LETTERS_H_
