// Letters of an alphabet, packed into sequences.
#ifndef KWEAVE_DATA_SEQUENCES_H_
#define KWEAVE_DATA_SEQUENCES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kweave/dataset.h"

namespace kweave {

/// What the characters of a text stand for.
struct Alphabet {
  static constexpr std::int16_t kNoLetter = -1;  ///< not in the alphabet
  static constexpr std::int16_t kUnknown = -2;   ///< one of several letters: it equals none

  std::string name;     ///< for messages
  std::string letters;  ///< by their numbers
  std::array<std::int16_t, 256> number{};

  int bits() const;
};

/// `dna`, `rna`, `protein`, or the letters themselves. Lower case is upper case, unless the letters tell them
/// apart. In DNA U is T and in RNA T is U. Ambiguity codes (NRYSWKMBDHV of nucleotides, BJOUXZ and * of amino
/// acids), gaps (-) and question marks are unknown letters, unless they are letters of the alphabet. Throws
/// Error(kUsage).
Alphabet MakeAlphabet(const std::string& text);

/// Counts characters to tell which alphabet they are from.
class AlphabetGuess {
 public:
  void Add(std::string_view text);
  bool has_enough() const { return total_ >= kEnough; }
  /// `dna` or `rna` where nearly all letters are A, C, G, N and T or U; else `protein`.
  std::string Name() const;

 private:
  static constexpr std::int64_t kEnough = 1 << 20;  // letters: far more than it takes to tell 4 from 20
  std::array<std::int64_t, 256> count_{};
  std::int64_t total_ = 0;
};

/// Packs sequences one after the other.
class SequenceBuilder {
 public:
  /// `letters`: about how many there will be.
  explicit SequenceBuilder(Alphabet alphabet, std::size_t letters = 0);

  void Start();
  /// Adds the letters of `text` without blanks and line ends. Returns where the first character is that is no
  /// letter of the alphabet; npos: nowhere.
  std::size_t Append(std::string_view text);
  /// Letters since Start.
  Index length() const { return length_; }
  void End();

  const Alphabet& alphabet() const { return alphabet_; }
  Index rows() const;
  /// Letters that are not known so far.
  Index unknown() const;
  SequenceRows Take();

 private:
  struct Storage;

  Alphabet alphabet_;
  std::shared_ptr<Storage> storage_;
  Index length_ = 0, longest_ = 0;
  std::uint64_t word_ = 0;
  int bits_ = 0, shift_ = 0, word_bits_ = 0;
};

/// What is wrong with a character, for messages.
std::string NoLetter(char found, const Alphabet& alphabet);

/// The sequence as text, unknown letters as question marks.
std::string SequenceText(const SequenceRows& sequences, Index i);

/// The sequences of a view; null: it holds numbers.
inline const SequenceRows* AsSequences(const Features& features) {
  return std::get_if<SequenceRows>(&features);
}

/// Copies of the sequences in `indices`, in that order.
SequenceRows SelectSequences(const SequenceRows& source, std::span<const Index> indices);

/// Sequence i as CopyRow writes it.
void CopySequence(const SequenceRows& source, Index i, std::span<double> out);

/// Bytes of the letters with where they begin.
std::size_t SequenceBytes(const SequenceRows& sequences);

}  // namespace kweave

#endif  // KWEAVE_DATA_SEQUENCES_H_
