// Kernels between pairs of sequences by their runs of equal letters.
//
// Solves     k(x, z) = sum over positions i and orders k of c(i, k) [the k letters from i on are equal]
//            (RunWeights), for some sequences x and all z.
// Method     letters are kept as bit planes, 32 positions a word, the words of 16 sequences side by side, so
//            that one vector compares 32 positions of all of them. Equal letters are a word M_1 of bits;
//            where runs of k begin is M_k = M_{k-1} & (M_{k-1} >> 1). With weights that do not depend on the
//            position the bits of M_k are counted, until none is left; else the run length of every position
//            is found from the right and its weight looked up. Either way the cost does not depend on how
//            many kernels the weights are made of.
// Costs      bits / 8 bytes a letter; of 398 letters of DNA some 6 ns a pair (one core, AVX-512).
#ifndef KWEAVE_COMPUTE_CPU_MATCH_RUNS_H_
#define KWEAVE_COMPUTE_CPU_MATCH_RUNS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "compute/cpu/packed_letters.h"
#include "kweave/index.h"

namespace kweave {

/// Sequences whose words stand side by side.
inline constexpr Index kLettersAbreast = 16;

/// Sequences as bit planes.
class LetterPlanes {
 public:
  LetterPlanes() = default;
  explicit LetterPlanes(const PackedLetters& letters);

  Index size() const { return size_; }
  Index length() const { return length_; }
  Index words() const { return words_; }  ///< of 32 positions
  int planes() const { return planes_; }  ///< of a letter; with `has_known` one more says which are known
  bool has_known() const { return has_known_; }
  /// Word w of all planes of 16 sequences: planes times kLettersAbreast values.
  const std::uint32_t* Block(Index block, Index w) const {
    return bits_.data() + (block * words_ + w) * stride();
  }
  /// The planes of word w of one sequence go to `out`.
  void CopyWord(Index i, Index w, std::uint32_t* out) const {
    const std::uint32_t* from = Block(i / kLettersAbreast, w) + i % kLettersAbreast;
    for (int p = 0; p < planes_ + (has_known_ ? 1 : 0); ++p) out[p] = from[p * kLettersAbreast];
  }
  std::size_t bytes() const { return bits_.size() * sizeof(std::uint32_t); }

 private:
  Index stride() const { return (planes_ + (has_known_ ? 1 : 0)) * kLettersAbreast; }

  Index size_ = 0, length_ = 0, words_ = 0;
  int planes_ = 0;
  bool has_known_ = false;
  AlignedVector<std::uint32_t> bits_;
};

/// What runs are worth, made ready for the loops. T: float or double.
template <class T>
class RunTable {
 public:
  /// With a shift s, letter i of the row is compared with letter i + s of the column, and weights are those
  /// of position i.
  explicit RunTable(const RunWeights& weights, Index shift = 0);

  Index first() const { return first_; }  ///< positions outside [first, last) count nothing
  Index last() const { return last_; }
  Index shift() const { return shift_; }
  int degree() const { return degree_; }
  bool is_same_everywhere() const { return is_same_everywhere_; }
  const std::vector<T>& of_order() const { return of_order_; }
  /// The worth of runs of 0, 1, ..., degree letters that begin at a position.
  const T* of_run(Index position) const { return of_run_.data() + (position - first_) * stride_; }

 private:
  Index first_ = 0, last_ = 0, shift_ = 0;
  int degree_ = 0;
  Index stride_ = 0;
  bool is_same_everywhere_ = false;
  std::vector<T> of_order_;  // by order, where positions do not matter
  AlignedVector<T> of_run_;  // by position and run length, else
};

/// out[r * stride + j - begin] += k(rows[r] of `left`, j of `right`) for begin <= j < end, where begin is a
/// multiple of kLettersAbreast.
template <class T>
void AddRunValues(const LetterPlanes& left, std::span<const Index> rows, const LetterPlanes& right,
                  Index begin, Index end, const RunTable<T>& table, T* out, Index stride);

/// out[i] += k(x, x) of sequence i.
void AddSelfValues(const PackedLetters& letters, const RunWeights& weights, std::span<double> out);

extern template class RunTable<float>;
extern template class RunTable<double>;
extern template void AddRunValues(const LetterPlanes&, std::span<const Index>, const LetterPlanes&, Index,
                                  Index, const RunTable<float>&, float*, Index);
extern template void AddRunValues(const LetterPlanes&, std::span<const Index>, const LetterPlanes&, Index,
                                  Index, const RunTable<double>&, double*, Index);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_MATCH_RUNS_H_
