// How often words occur in sequences of any lengths.
#ifndef KWEAVE_COMPUTE_CPU_WORD_COUNTS_H_
#define KWEAVE_COMPUTE_CPU_WORD_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compute/cpu/packed_letters.h"
#include "kweave/index.h"

namespace kweave {

/// Which letters of a sequence are a word.
struct WordShape {
  std::vector<int> places;  ///< of the letters of a word, counted from the first, which is 0; ascending
  int alphabet = 4;         ///< letters there are
  /// The reverse complement of every word counts, too, where the complement of letter c is alphabet - 1 - c.
  bool adds_reverse = false;

  /// `letters` letters side by side.
  static WordShape Contiguous(int letters, int alphabet, bool adds_reverse);
  int letters() const { return static_cast<int>(places.size()); }
  int width() const { return places.empty() ? 0 : places.back() + 1; }
  /// Words there are; 0: more than 64 bits can number.
  std::uint64_t WordsInAll() const;
};

/// Words of a sequence begin at positions [begin, end), and no letter of them lies at or behind `limit`.
struct WordRange {
  Index begin = 0, end = 0, limit = 0;
};
using WordRangeOf = std::function<WordRange(Index length)>;

/// All letters.
inline WordRange WholeRange(Index length) { return {0, length, length}; }

/// A letter that is not known, in sequences of bytes.
inline constexpr std::uint8_t kUnknownLetter = 255;

/// Sequence i as one byte a letter.
void CopyLetters(const PackedLetters& letters, Index i, std::vector<std::uint8_t>& out);

/// The words of every sequence, each once, with how often it occurs; words with unknown letters are none. A
/// word is known by its number: its letters as digits, the first the lowest, or, where it does not matter
/// which word it is, its rank among those that occur.
class WordCounts {
 public:
  /// Of the sequences of all parts, one part after the other. `ranks`: words are numbered by rank.
  WordCounts(std::span<const PackedLetters> parts, const WordShape& shape, const WordRangeOf& range,
             bool ranks);

  struct Row {
    std::span<const std::uint32_t> words;  ///< ascending
    std::span<const float> counts;
  };

  Index size() const { return static_cast<Index>(offsets_.size()) - 1; }
  Index words() const { return words_in_all_; }  ///< numbers are below this
  Index entries() const { return static_cast<Index>(words_.size()); }
  Row row(Index i) const {
    const std::size_t begin = Offset(offsets_[Offset(i)]), count = Offset(offsets_[Offset(i) + 1]) - begin;
    return {std::span(words_).subspan(begin, count), std::span(counts_).subspan(begin, count)};
  }
  /// Words of sequence i, each as often as it occurs.
  double Total(Index i) const;
  /// The sum of squared counts.
  double Squares(Index i) const;
  std::size_t bytes() const;

 private:
  std::vector<Index> offsets_{0};
  std::vector<std::uint32_t> words_;
  std::vector<float> counts_;  // whole numbers below 2^24
  Index words_in_all_ = 0;
};

/// Counts as rows of a matrix X with K = X X': words that one sequence alone has are put into one column of
/// its own, so that they cost one entry.
struct WordFeatures {
  std::vector<Index> offsets{0};
  std::vector<std::int32_t> columns;  ///< of every entry, ascending in a row
  std::vector<double> values;
  Index width = 0;   ///< columns
  Index shared = 0;  ///< those in front, of words that several sequences have

  /// `factors` multiply the rows; empty: 1.
  static WordFeatures Of(const WordCounts& counts, std::span<const double> factors);
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_WORD_COUNTS_H_
