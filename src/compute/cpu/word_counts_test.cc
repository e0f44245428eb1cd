#include "compute/cpu/word_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "compute/cpu/hamming_operator.h"
#include "compute/cpu/mismatch_profile.h"

namespace kweave {
namespace {

// Sequences of different lengths, 0 among them, with unknown letters (-1).
struct RandomSequences {
  RandomSequences(Index count, Index longest, int alphabet, std::uint64_t seed) : kinds(alphabet) {
    Random random(seed);
    while ((1 << bits) < alphabet) ++bits;
    begin.push_back(0);
    for (Index i = 0; i < count; ++i) {
      std::vector<int>& letters = codes.emplace_back();
      for (Index k = random.Below(longest + 1); k > 0; --k) {
        letters.push_back(random.Below(17) == 0 ? -1 : static_cast<int>(random.Below(alphabet)));
      }
      offsets.push_back(static_cast<Index>(words.size()));
      lengths.push_back(static_cast<std::int32_t>(letters.size()));
      for (std::size_t j = 0; j < letters.size(); ++j) {
        if (j % Offset(64 / bits) == 0) words.push_back(0);
        if (letters[j] < 0) unknown.push_back(static_cast<std::int32_t>(j));
        words.back() |= static_cast<std::uint64_t>(std::max(letters[j], 0))
                        << (Offset(bits) * (j % Offset(64 / bits)));
      }
      begin.push_back(static_cast<Index>(unknown.size()));
    }
  }
  PackedLetters packed() const { return {words.data(), offsets, 0, bits, begin, unknown, lengths}; }

  int kinds, bits = 1;
  std::vector<std::vector<int>> codes;
  std::vector<std::uint64_t> words;
  std::vector<Index> offsets, begin;
  std::vector<std::int32_t> lengths, unknown;
};

// Words by definition: windows of the letters, those of the reverse complement too.
std::map<std::vector<int>, double> PlainWords(const std::vector<int>& letters, const WordShape& shape,
                                              const WordRange& range) {
  std::map<std::vector<int>, double> words;
  for (Index i = range.begin; i < range.end && i + shape.width() <= range.limit; ++i) {
    std::vector<int> window(letters.begin() + i, letters.begin() + i + shape.width());
    for (int turn = 0; turn <= (shape.adds_reverse ? 1 : 0); ++turn) {
      std::vector<int> word;
      for (const int place : shape.places) word.push_back(window[Offset(place)]);
      if (std::ranges::find(word, -1) == word.end()) ++words[word];
      std::ranges::reverse(window);
      for (int& letter : window) letter = letter < 0 ? -1 : shape.alphabet - 1 - letter;
    }
  }
  return words;
}

double PlainProduct(const std::map<std::vector<int>, double>& x, const std::map<std::vector<int>, double>& z,
                    std::span<const double> weights) {
  double sum = 0;
  for (const auto& [u, of_u] : x) {
    for (const auto& [v, of_v] : z) {
      std::size_t differing = 0;
      for (std::size_t t = 0; t < u.size(); ++t) differing += u[t] != v[t];
      sum += of_u * of_v * weights[differing];
    }
  }
  return sum;
}

WordRange Inner(Index length) { return {std::min<Index>(2, length), length, std::max<Index>(0, length - 1)}; }

TEST(WordCounts, AreThoseOfTheDefinition) {
  for (const int alphabet : {2, 4, 20}) {
    const RandomSequences sequences(12, 40, alphabet, 7);
    const PackedLetters letters = sequences.packed();
    for (const bool adds_reverse : {false, true}) {
      for (const std::vector<int>& places : {std::vector{0}, std::vector{0, 1, 2}, std::vector{0, 2, 5}}) {
        const WordShape shape{places, alphabet, adds_reverse};
        for (const WordRangeOf& range : {WordRangeOf(WholeRange), WordRangeOf(Inner)}) {
          const WordCounts by_digits(std::span(&letters, 1), shape, range, false);
          const WordCounts by_rank(std::span(&letters, 1), shape, range, true);
          for (Index i = 0; i < letters.size(); ++i) {
            const auto plain = PlainWords(sequences.codes[Offset(i)], shape, range(letters.LengthOf(i)));
            ASSERT_EQ(by_digits.row(i).words.size(), plain.size());
            ASSERT_EQ(by_rank.row(i).words.size(), plain.size());
            double total = 0;
            for (const auto& [word, count] : plain) {
              total += count;
              std::uint32_t number = 0;
              for (std::size_t t = word.size(); t-- > 0;) {
                number = number * static_cast<std::uint32_t>(alphabet) + static_cast<std::uint32_t>(word[t]);
              }
              const WordCounts::Row row = by_digits.row(i);
              const auto at = std::ranges::lower_bound(row.words, number);
              ASSERT_TRUE(at != row.words.end() && *at == number);
              EXPECT_EQ(row.counts[Offset(at - row.words.begin())], count);
            }
            EXPECT_EQ(by_rank.Total(i), total);
          }
        }
      }
    }
  }
}

TEST(WordFeatures, HaveTheProductsOfTheCounts) {
  const RandomSequences sequences(20, 60, 4, 3);
  const PackedLetters letters = sequences.packed();
  const WordShape shape = WordShape::Contiguous(4, 4, true);
  const WordCounts counts(std::span(&letters, 1), shape, WholeRange, true);
  std::vector<double> factors;
  for (Index i = 0; i < counts.size(); ++i) factors.push_back(1 / (1 + counts.Total(i)));
  const WordFeatures features = WordFeatures::Of(counts, factors);
  EXPECT_LT(features.columns.size(), static_cast<std::size_t>(counts.entries()));  // some words stand alone
  const std::vector<double> equal = {1, 0, 0, 0, 0};
  for (Index i = 0; i < letters.size(); ++i) {
    for (Index j = 0; j < letters.size(); ++j) {
      double product = 0;
      for (Index e = features.offsets[Offset(i)]; e < features.offsets[Offset(i) + 1]; ++e) {
        for (Index f = features.offsets[Offset(j)]; f < features.offsets[Offset(j) + 1]; ++f) {
          if (features.columns[Offset(e)] == features.columns[Offset(f)])
            product += features.values[Offset(e)] * features.values[Offset(f)];
        }
      }
      const double plain =
          PlainProduct(PlainWords(sequences.codes[Offset(i)], shape, WholeRange(letters.LengthOf(i))),
                       PlainWords(sequences.codes[Offset(j)], shape, WholeRange(letters.LengthOf(j))), equal);
      EXPECT_NEAR(product, factors[Offset(i)] * factors[Offset(j)] * plain, 1e-12 * (1 + plain));
    }
  }
}

TEST(HammingOperator, SumsOverAllPairsOfWords) {
  Random random(5);
  for (const auto& [alphabet, letters] :
       std::vector<std::pair<int, int>>{{4, 1}, {4, 4}, {2, 7}, {20, 2}, {5, 3}}) {
    std::vector<double> weights;
    for (int d = 0; d <= letters; ++d) weights.push_back(random.Uniform());
    const HammingOperator sums(letters, alphabet, weights);
    std::vector<double> table(Offset(sums.words()));
    for (double& value : table) value = random.Below(3) == 0 ? 2 * random.Uniform() - 1 : 0;
    std::vector<double> out = table;
    ThreadPool pool(2);
    sums.Apply(out, &pool);
    for (Index u = 0; u < sums.words(); ++u) {
      double sum = 0;
      for (Index v = 0; v < sums.words(); ++v) {
        int differing = 0;
        for (Index a = u, b = v; a > 0 || b > 0; a /= alphabet, b /= alphabet)
          differing += a % alphabet != b % alphabet;
        sum += weights[Offset(differing)] * table[Offset(v)];
      }
      EXPECT_NEAR(out[Offset(u)], sum, 1e-12 * static_cast<double>(sums.words()))
          << alphabet << " " << letters;
    }
  }
}

// Places of several blocks and, above them, several columns of a block.
TEST(HammingOperator, AgreesWithEveryPlaceOnItsOwn) {
  constexpr int kLetters = 8;
  const std::vector<double> weights = GappedWeights(kLetters, 5);
  const HammingOperator sums(kLetters, 4, weights);
  std::vector<double> table(Offset(sums.words()), 0.0);
  const std::vector<Index> words = {0, 77, 4097, 65535, 30000};
  for (std::size_t k = 0; k < words.size(); ++k) table[Offset(words[k])] = 1 + static_cast<double>(k);
  sums.Apply(table, nullptr);
  for (Index u = 0; u < sums.words(); u += 13) {
    double sum = 0;
    for (std::size_t k = 0; k < words.size(); ++k) {
      int differing = 0;
      for (Index a = u, b = words[k], t = 0; t < kLetters; ++t, a /= 4, b /= 4) differing += a % 4 != b % 4;
      sum += weights[Offset(differing)] * (1 + static_cast<double>(k));
    }
    EXPECT_NEAR(table[Offset(u)], sum, 1e-10);
  }
}

TEST(HammingOperator, KnowsGappedWordsAndMismatches) {
  EXPECT_EQ(GappedWeights(5, 3), (std::vector<double>{10, 4, 1, 0, 0, 0}));
  constexpr int kLetters = 4, kAlphabet = 3;
  for (int most = 0; most <= 2; ++most) {
    const std::vector<double> weights = MismatchWeights(kLetters, most, kAlphabet);
    const auto distance = [](int a, int b) {
      int differing = 0;
      for (int t = 0; t < kLetters; ++t, a /= kAlphabet, b /= kAlphabet)
        differing += a % kAlphabet != b % kAlphabet;
      return differing;
    };
    for (const int word : {0, 1, 4, 13, 40}) {  // which have 0 to 4 letters that are not 0
      double common = 0;
      for (int w = 0; w < 81; ++w) common += distance(0, w) <= most && distance(word, w) <= most;
      EXPECT_EQ(weights[Offset(distance(0, word))], common) << most << " " << word;
    }
    const HammingOperator sums(kLetters, kAlphabet, weights);
    for (const double value : sums.eigenvalues()) EXPECT_GE(value, -1e-9);
  }
}

TEST(MismatchProfile, CountsAllPairsOfWords) {
  const RandomSequences sequences(14, 150, 4, 11);
  const PackedLetters packed = sequences.packed();
  std::vector<std::uint8_t> bytes;
  for (const int letters : {1, 3, 11}) {
    const WordShape shape = WordShape::Contiguous(letters, 4, false);
    for (const WordRangeOf& range : {WordRangeOf(WholeRange), WordRangeOf(Inner)}) {
      std::vector<WordWindows> windows;
      for (Index i = 0; i < packed.size(); ++i) {
        CopyLetters(packed, i, bytes);
        windows.emplace_back(bytes, range(packed.LengthOf(i)), letters);
      }
      for (Index i = 0; i < packed.size(); ++i) {
        for (Index j = 0; j < packed.size(); ++j) {
          std::vector<std::int64_t> counts(Offset(letters) / 2 + 1, 0);
          AddMismatchProfile(windows[Offset(i)], windows[Offset(j)], counts);
          for (std::size_t d = 0; d < counts.size(); ++d) {
            std::vector<double> weights(Offset(letters) + 1, 0.0);
            weights[d] = 1;
            EXPECT_EQ(counts[d],
                      PlainProduct(PlainWords(sequences.codes[Offset(i)], shape, range(packed.LengthOf(i))),
                                   PlainWords(sequences.codes[Offset(j)], shape, range(packed.LengthOf(j))),
                                   weights));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace kweave
