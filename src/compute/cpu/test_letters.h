// Random sequences, packed, and kernels on them by their definition.
#ifndef KWEAVE_COMPUTE_CPU_TEST_LETTERS_H_
#define KWEAVE_COMPUTE_CPU_TEST_LETTERS_H_

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "compute/cpu/packed_letters.h"

namespace kweave {

/// Sequences that have long words in common: each letter is that of an ancestor or, one time in `change`,
/// any.
struct TestLetters {
  TestLetters(Index count, Index length_of_all, int bits_of_letter, bool has_unknown, std::uint64_t seed,
              Index change = 3)
      : length(length_of_all), bits(bits_of_letter) {
    Random random(seed);
    const Index kinds = std::min<Index>(Index{1} << bits, 20);
    std::vector<std::vector<int>> ancestors(3);
    for (auto& letters : ancestors) {
      for (Index j = 0; j < length; ++j) letters.push_back(static_cast<int>(random.Below(kinds)));
    }
    unknown_begin.push_back(0);
    for (Index i = 0; i < count; ++i) {
      codes.push_back(ancestors[Offset(random.Below(3))]);
      for (int& code : codes.back()) {
        if (random.Below(change) == 0) code = static_cast<int>(random.Below(kinds));
      }
      for (Index j = 0; j < length; ++j) {
        if (!has_unknown || random.Below(11) > 0) continue;
        codes.back()[Offset(j)] = -1;
        unknown.push_back(static_cast<std::int32_t>(j));
      }
      unknown_begin.push_back(static_cast<Index>(unknown.size()));
      Pack(codes.back());
    }
  }

  PackedLetters packed() const { return {words.data(), offsets, length, bits, unknown_begin, unknown}; }

  /// Equal letters of two sequences from positions on.
  int Run(Index x, Index i, Index z, Index j, int most) const {
    int run = 0;
    for (; run < most && i + run < length && j + run < length; ++run) {
      const int a = codes[Offset(x)][Offset(i + run)], b = codes[Offset(z)][Offset(j + run)];
      if (a < 0 || a != b) break;
    }
    return run;
  }

  /// sum over positions and orders, letter i of x against letter i + shift of z.
  double Value(Index x, Index z, const RunWeights& weights, Index shift = 0) const {
    double value = 0;
    for (Index i = std::max<Index>(0, -shift); i < std::min(length, length - shift); ++i) {
      const int run = Run(x, i, z, i + shift, weights.degree());
      for (int k = 1; k <= run; ++k) value += weights.at(i, k);
    }
    return value;
  }

  Index length;
  int bits;
  std::vector<std::vector<int>> codes;  // -1: unknown
  std::vector<std::uint64_t> words;
  std::vector<Index> offsets, unknown_begin;
  std::vector<std::int32_t> unknown;

 private:
  void Pack(const std::vector<int>& letters) {
    const Index per_word = 64 / bits;
    offsets.push_back(static_cast<Index>(words.size()));
    words.resize(words.size() + Offset((length + per_word - 1) / per_word), 0);
    for (Index j = 0; j < length; ++j) {
      const auto code = static_cast<std::uint64_t>(std::max(letters[Offset(j)], 0));
      words[Offset(offsets.back() + j / per_word)] |= code << (bits * static_cast<int>(j % per_word));
    }
  }
};

/// The same everywhere, or anything at positions [first, last).
inline RunWeights TestWeights(Index length, int degree, bool is_same, Index first, Index last,
                              Random& random) {
  RunWeights weights(length, degree);
  for (int k = 1; k <= degree; ++k) {
    const double value = random.Uniform();
    for (Index i = is_same ? 0 : first; i < (is_same ? length : last); ++i) {
      weights.Add(i, k, is_same ? value : random.Uniform());
    }
  }
  return weights;
}

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_TEST_LETTERS_H_
