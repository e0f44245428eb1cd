#include "compute/cpu/position_words.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <vector>

#include "compute/cpu/test_letters.h"

namespace kweave {
namespace {

std::vector<double> RandomVector(Index size, bool is_sparse, Random& random) {
  std::vector<double> a(Offset(size), 0.0);
  for (double& value : a) {
    if (!is_sparse || random.Below(9) == 0) value = 2 * random.Uniform() - 1;
  }
  return a;
}

// sum over words u of S(u) T(u), by pairs of sequences.
double PlainProduct(const TestLetters& letters, std::span<const double> a, std::span<const double> b,
                    Index position, int order) {
  double sum = 0;
  for (std::size_t x = 0; x < a.size(); ++x) {
    for (std::size_t z = 0; z < a.size(); ++z) {
      const int run = letters.Run(static_cast<Index>(x), position, static_cast<Index>(z), position, order);
      if (run == order) sum += a[x] * b[z];
    }
  }
  return sum;
}

void ExpectProducts(const TestLetters& letters, int degree, bool is_sparse, Random& random) {
  ThreadPool pool(3);
  const Index length = letters.length, size = letters.packed().size();
  const Index first = random.Below(length), last = first + 1 + random.Below(length - first);
  const RunWeights weights = TestWeights(length, degree, false, first, last, random);
  const PositionWords words(letters.packed(), first, last, degree, pool);
  const std::vector<double> a = RandomVector(size, is_sparse, random),
                            b = RandomVector(size, is_sparse, random);
  std::vector<double> out(Offset(size), 0.5), products(Offset((last - first) * degree));
  std::vector<double> squares(products.size());
  words.Multiply(a, weights, out, squares, pool);
  words.Products(a, b, products, pool);
  for (Index j = 0; j < size; ++j) {
    double expected = 0.5;
    for (Index x = 0; x < size; ++x) expected += a[Offset(x)] * letters.Value(x, j, weights);
    EXPECT_NEAR(out[Offset(j)], expected, 1e-11) << j;
  }
  for (Index i = first; i < last; ++i) {
    for (int k = 1; k <= degree && i + k <= length; ++k) {
      const std::size_t at = Offset((i - first) * degree + k - 1);
      Index known = 0;
      for (Index j = 0; j < size; ++j) known += letters.Run(j, i, j, i, k) == k;
      EXPECT_EQ(words.KnownWords(i, k), known);
      EXPECT_NEAR(squares[at], PlainProduct(letters, a, a, i, k), 1e-11) << i << " " << k;
      EXPECT_NEAR(products[at], PlainProduct(letters, a, b, i, k), 1e-11) << i << " " << k;
    }
  }
}

TEST(PositionWords, MultipliesAsPairsDo) {
  std::uint64_t seed = 1;
  Random random(17);
  for (const int bits : {2, 5, 8}) {
    for (const Index length : {1, 9, 33, 60}) {
      for (const int degree : {1, 2, 5, 8, 9, 20, 50}) {
        const Index count = std::vector<Index>{1, 2, 7, 40, 90}[Offset(random.Below(5))];
        const bool has_unknown = random.Below(2) == 0, is_sparse = random.Below(2) == 0;
        SCOPED_TRACE(testing::Message()
                     << length << " letters of " << bits << " bits, degree " << degree << ", " << count
                     << " sequences" << (has_unknown ? ", some unknown" : "")
                     << (is_sparse ? ", sparse" : ""));
        // Sometimes few differences, so that trees are deep.
        const TestLetters letters(count, length, bits, has_unknown, ++seed, random.Below(2) == 0 ? 3 : 40);
        ExpectProducts(letters, degree, is_sparse, random);
      }
    }
  }
}

// The array holds all of its letters with very many sequences only.
TEST(PositionWords, MultipliesManySequences) {
  const TestLetters letters(40'000, 22, 2, true, 5, 4);
  Random random(3);
  ThreadPool pool(2);
  const RunWeights weights = TestWeights(22, 14, false, 0, 22, random);
  const PositionWords words(letters.packed(), 0, 22, 14, pool);
  const std::vector<double> a = RandomVector(40'000, false, random);
  std::vector<double> out(a.size(), 0.0), squares(22 * 14);
  words.Multiply(a, weights, out, squares, pool);
  for (const Index j : {0, 17, 20'000, 39'999}) {
    double expected = 0;
    for (Index x = 0; x < 40'000; ++x) expected += a[Offset(x)] * letters.Value(x, j, weights);
    EXPECT_NEAR(out[Offset(j)], expected, 1e-8);
  }
  double quadratic = 0;
  for (Index i = 0; i < 22; ++i) {
    for (int k = 1; k <= 14; ++k) quadratic += weights.at(i, k) * squares[Offset(i * 14 + k - 1)];
  }
  EXPECT_NEAR(quadratic, std::inner_product(a.begin(), a.end(), out.begin(), 0.0), 1e-6);
}

TEST(PositionWords, TakesSomeSequences) {
  const TestLetters letters(60, 30, 2, true, 8);
  Random random(4);
  ThreadPool pool(1);
  std::vector<Index> some;
  for (Index k = 0; k < 60; k += 1 + random.Below(3)) some.push_back(59 - k);
  const SelectedLetters selected(letters.packed(), some);
  const std::vector<Index> front(some.begin(), some.begin() + 7), rest(some.begin() + 7, some.end());
  const SelectedLetters of_front(letters.packed(), front), of_rest(letters.packed(), rest);
  const RunWeights weights = TestWeights(30, 6, true, 0, 30, random);
  const PositionWords words(selected.letters(), 0, 30, 6, pool);
  const PackedLetters parts[] = {of_front.letters(), of_rest.letters()};
  const PositionWords of_parts(parts, 0, 30, 6, pool);
  const std::vector<double> a = RandomVector(words.size(), false, random);
  std::vector<double> out(a.size(), 0.0), out_of_parts(a.size(), 0.0);
  words.Multiply(a, weights, out, {}, pool);
  of_parts.Multiply(a, weights, out_of_parts, {}, pool);
  EXPECT_EQ(out, out_of_parts);
  for (std::size_t j = 0; j < some.size(); ++j) {
    double expected = 0;
    for (std::size_t x = 0; x < some.size(); ++x) expected += a[x] * letters.Value(some[x], some[j], weights);
    EXPECT_NEAR(out[j], expected, 1e-11);
  }
}

}  // namespace
}  // namespace kweave
