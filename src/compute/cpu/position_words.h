// Products with the kernels of a weighted-degree family in time linear in the letters.
//
// Solves     out_j = sum over positions i and orders k of c(i, k) S_ik(the k letters of sequence j from i
//            on), where S_ik(u) is the sum of a over the sequences with word u at i: K(theta) a for the
//            weights c (RunWeights); and sum over u of S_ik(u)^2, from which a' K_m a follows for every
//            kernel m.
// Method     positions are the outer loop. For short words a is added into an array by the word of most
//            letters; sums of shorter words are sums of four (of 2^bits) neighbouring stretches of it;
//            weights are added on the way back; outputs are read from the array. Longer words go through the
//            tree of words that several sequences share (Sonnenburg, Raetsch, Schaefer, Schoelkopf: Large
//            scale multiple kernel learning, JMLR 7, 2006, section 3.4, there a trie that is filled sequence
//            by sequence): its leaves, sorted, with the letters that neighbours have in common, are found
//            once. Words of one sequence alone are a term of the diagonal. No word's weight outlives its
//            position.
// Takes and  sequences of one length and vectors over them; unknown letters end the words they are in.
// returns
// Costs      of 100,000 DNA sequences and 20 orders about 5 ns a sequence and position; with squares a half
//            more. Kept: the letters again, and 5 bytes for a sequence and position whose word of more than
//            eight letters is shared.
#ifndef KWEAVE_COMPUTE_CPU_POSITION_WORDS_H_
#define KWEAVE_COMPUTE_CPU_POSITION_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/threads.h"
#include "compute/cpu/packed_letters.h"
#include "kweave/index.h"

namespace kweave {

/// The longest words it knows: what neighbours have in common is kept in a byte.
inline constexpr int kMostLettersOfWord = 255;

class PositionWords {
 public:
  /// Words of up to `degree` letters that begin at positions [first, last), of the sequences of all parts,
  /// one part after the other.
  PositionWords(std::span<const PackedLetters> parts, Index first, Index last, int degree, ThreadPool& pool);
  PositionWords(const PackedLetters& letters, Index first, Index last, int degree, ThreadPool& pool)
      : PositionWords(std::span(&letters, 1), first, last, degree, pool) {}

  Index size() const { return size_; }
  Index first() const { return first_; }
  Index last() const { return last_; }
  int degree() const { return degree_; }
  std::size_t bytes() const;

  /// out[j] += the product with a; positions without weight cost nothing. `out` may be empty.
  /// Where `squares` is not empty, squares[(i - first) * degree + k - 1] = sum over words u of S_ik(u)^2.
  void Multiply(std::span<const double> a, const RunWeights& weights, std::span<double> out,
                std::span<double> squares, ThreadPool& pool) const;

  /// How many sequences have a word of k letters at i, unknown letters not in it.
  Index KnownWords(Index position, int order) const;

  /// Sums over words of S_ik of two vectors: the squares above with b in place of the second a.
  void Products(std::span<const double> a, std::span<const double> b, std::span<double> products,
                ThreadPool& pool) const;

 private:
  class Pass;

  // A sequence whose words at a position end early.
  struct Short {
    std::uint32_t sample;
    std::int32_t letters;  // that are left
  };
  // What sequences share at one position beyond the words of the array.
  struct Shared {
    std::vector<std::uint32_t> samples;  // sorted by their letters
    std::vector<std::uint8_t> common;    // with the one before, beyond those of the array; 0: a new tree
    std::vector<Short> shorts;           // by sample
  };
  struct Entry;

  std::uint64_t LettersAt(Index sample, Index position) const;
  void FillKeys(Index position, std::uint32_t* keys) const;
  void FindShared(Index position, Shared& shared) const;
  void SortTree(std::span<Entry> entries, Index position, int depth, std::uint8_t* common) const;
  void FindShorts(const PackedLetters& letters, Index begin);
  Index DeepLetters(Index position) const;

  Index size_ = 0, length_ = 0, first_ = 0, last_ = 0;
  int degree_ = 0, bits_ = 2;
  int array_letters_ = 0;               // of the words of the array
  Index words_ = 0;                     // of a sequence
  std::vector<std::uint64_t> letters_;  // word after word, each of all sequences
  std::vector<Shared> shared_;          // by position
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_POSITION_WORDS_H_
