// Kernels on words through Grams and groups, against their plain loops, on sequences of any lengths.
#include "gram/word_group.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/offset.h"
#include "base/random.h"
#include "gram/make_gram.h"
#include "kernel/language.h"

namespace kweave {
namespace {

const std::vector<std::string> kKernels = {"spectrum(k=1..3)",
                                           "spectrum(k=9, rc=1)",
                                           "spectrum(k=2)@seq[-7..]",
                                           "mismatch(k=4, m=1)",
                                           "gapped(l=6, k=4, rc=[0, 1])",
                                           "gapped(l=5, k=3)@seq[2..15]",
                                           "gapped(l=16, k=13)",
                                           "motif(pattern=[1, 101, 11111])",
                                           "motif(pattern=11)@seq[1..9]",
                                           "local_alignment(beta=0.3)"};

View RandomView(Index count, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::string> texts(Offset(count));
  for (std::string& text : texts) {
    for (Index k = 1 + random.Below(40); k > 0; --k) text += "ACGTACGTACGT?"[random.Below(13)];
  }
  return {"seq", MakeSequences(texts, "dna"), {}};
}

std::vector<int> LettersAt(const View& view, Index i) {
  const auto& sequences = std::get<SequenceRows>(view.features);
  std::vector<double> row(Offset(sequences.cols));
  CopyRow(view.features, i, row);
  return {row.begin(), row.begin() + sequences.lengths[i]};
}

// k_m of all pairs, row after row.
std::vector<double> PlainMatrix(const KernelSet& kernels, Index m, const View& left, const View& right) {
  const KernelTerm term = kernels.Term(m);
  std::vector<double> matrix;
  for (Index i = 0; i < RowCount(left.features); ++i) {
    for (Index j = 0; j < RowCount(right.features); ++j) {
      matrix.push_back(
          term.kind->base->sequences->plain(LettersAt(left, i), LettersAt(right, j), term.parameters,
                                            RegionOf(kernels.subsets[Offset(term.subset)]), "ACGT"));
    }
  }
  return matrix;
}

double Largest(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

std::vector<double> RandomVector(Index size, Random& random) {
  std::vector<double> values(Offset(size));
  for (double& value : values) value = random.Below(4) == 0 ? 0 : 2 * random.Uniform() - 1;
  return values;
}

// out = K' a.
std::vector<double> Product(std::span<const double> matrix, std::span<const double> a) {
  std::vector<double> out(matrix.size() / a.size(), 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += a[i] * matrix[i * out.size() + j];
  }
  return out;
}

void ExpectNear(std::span<const double> values, std::span<const double> expected, double tolerance) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], tolerance) << i;
}

void ExpectPlain(Gram& gram, const KernelSet& kernels, const View& left, const View& right, bool is_training,
                 double tolerance) {
  Random random(9);
  std::vector<Index> rows(Offset(gram.left_count()));
  std::iota(rows.begin(), rows.end(), Index{0});
  const std::vector<double> a = RandomVector(gram.left_count(), random);
  for (Index m = 0; m < kernels.size(); ++m) {
    SCOPED_TRACE(kernels.Name(m));
    const std::vector<double> plain = PlainMatrix(kernels, m, left, right);
    const double size = 1 + Largest(plain);
    std::vector<double> theta(Offset(kernels.size()), 0.0), values(plain.size());
    theta[Offset(m)] = 1;
    const auto learned = gram.Learn(theta);
    learned->Rows(rows, values.data(), gram.right_count());
    for (double& value : values) value += learned->shift();
    ExpectNear(values, plain, tolerance * size);
    const VectorAnswer answer = gram.Answer({.a = a, .theta = theta, .wants_quadratics = is_training});
    const std::vector<double> outputs = Product(plain, a);
    ExpectNear(answer.outputs, outputs, tolerance * size * static_cast<double>(a.size()));
    if (!is_training) continue;
    std::vector<double> diagonal(a.size());
    learned->Diagonal(diagonal);
    double quadratic = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      quadratic += a[i] * outputs[i];
      EXPECT_NEAR(diagonal[i] + learned->shift(), plain[i * a.size() + i], tolerance * size);
    }
    EXPECT_NEAR(answer.quadratics[Offset(m)], quadratic,
                tolerance * size * static_cast<double>(a.size() * a.size()));
  }
}

TEST(WordGroup, EqualsThePlainLoops) {
  ThreadPool pool(2);
  const std::vector<View> left = {RandomView(23, 1)}, right = {RandomView(11, 2)};
  const KernelSet kernels = ParseKernels(kKernels, left, 0);
  const Normalization none = FitNormalization(kernels, left, {}, pool);
  for (const bool use_float : {false, true}) {
    const GramOptions options{.use_float = use_float};
    const double tolerance = use_float ? 1e-6 : 1e-12;
    ExpectPlain(*MakeGram(kernels, left, none, options, pool), kernels, left[0], left[0], true, tolerance);
    ExpectPlain(*MakeCrossGram(kernels, left, right, none, {}, options, pool), kernels, left[0], right[0],
                false, tolerance);
  }
}

// Words that differ, as a group of training samples, which many of them have.
TEST(WordGroup, MultipliesByNearWords) {
  ThreadPool pool(2);
  Random random(4);
  const std::vector<View> views = {RandomView(31, 3)};
  const KernelSet kernels =
      ParseKernels(std::vector<std::string>{"gapped(l=6, k=4, rc=1)@seq[2..30]"}, views, 0);
  const WordSides sides = WordSidesOf({views, views, true, {}}, 0);
  const KernelTerm term = kernels.Term(0);
  const auto group = MakeNearWordGroup<double>({0, *FindWordMap(*term.kind, term.parameters, "ACGT"),
                                                RegionOf(kernels.subsets[Offset(term.subset)]), 0.5},
                                               sides);
  std::vector<double> plain = PlainMatrix(kernels, 0, views[0], views[0]);
  for (double& value : plain) value *= 0.5 * 3;
  const double size = Largest(plain);
  const std::vector<double> theta = {3}, a = RandomVector(31, random), b = RandomVector(31, random);
  const std::vector<double> outputs = Product(plain, a);

  const auto expansion = Expand<double>(*group, MakeSupport(a), pool);
  std::vector<double> q(1), products(1), out(31, 0.0), means(1), pairs(1);
  expansion->Quadratics(a, q);
  expansion->Products(b, products);
  expansion->AddOutputs(theta, out);
  ExpectNear(out, outputs, 1e-11 * size);
  EXPECT_NEAR(3 * q[0], std::inner_product(a.begin(), a.end(), outputs.begin(), 0.0), 1e-10 * size);
  EXPECT_NEAR(3 * products[0], std::inner_product(b.begin(), b.end(), outputs.begin(), 0.0), 1e-10 * size);
  group->FindStatistics(31, {means, pairs, {}}, pool);
  double diagonal = 0;
  for (std::size_t i = 0; i < 31; ++i) diagonal += plain[32 * i];
  EXPECT_NEAR(3 * means[0], diagonal / 31, 1e-11 * size);
  EXPECT_NEAR(3 * pairs[0], std::accumulate(plain.begin(), plain.end(), 0.0) / (31 * 31), 1e-11 * size);

  const auto learned = group->Learn(theta);
  const auto matrix = learned->Products(pool);
  matrix->Multiply(a, out);
  ExpectNear(out, outputs, 1e-11 * size);
  const std::vector<Index> some = {30, 2, 17, 4};
  const auto part = matrix->Part(some, true);
  const std::vector<double> c = RandomVector(4, random);
  std::vector<double> of_part(4), of_diagonal(4);
  std::vector<float> row(4);
  part->Multiply(c, of_part);
  part->Diagonal(of_diagonal);
  part->Rows(std::vector<Index>{1}, row.data(), 4);
  for (std::size_t j = 0; j < 4; ++j) {
    double expected = 0;
    for (std::size_t i = 0; i < 4; ++i) expected += c[i] * plain[Offset(some[i] * 31 + some[j])];
    EXPECT_NEAR(of_part[j], expected, 1e-11 * size);
    EXPECT_NEAR(of_diagonal[j], plain[Offset(some[j] * 32)], 1e-11 * size);
    EXPECT_NEAR(row[j], plain[Offset(some[1] * 31 + some[j])], 1e-6 * size);
  }
}

// Linear kernels in all but their features: those of the linear solver are theirs.
TEST(WordGroup, HasFeatures) {
  ThreadPool pool(2);
  const std::vector<View> views = {RandomView(19, 5)};
  const KernelSet kernels =
      ParseKernels(std::vector<std::string>{"spectrum(k=4)", "motif(pattern=11)"}, views, 0);
  const Normalization none = FitNormalization(kernels, views, {}, pool);
  const auto gram = MakeGram(kernels, views, none, {}, pool);
  const std::vector<double> theta = {0.7, 2};
  const std::unique_ptr<FeatureMatrix> features = gram->Learn(theta)->Features();
  ASSERT_NE(features, nullptr);
  Random random(6);
  const std::vector<double> a = RandomVector(19, random);
  std::vector<double> w(Offset(features->columns())), out(19);
  features->MultiplyTransposed(a, w, nullptr);
  features->Multiply(w, out, nullptr);
  ExpectNear(out, gram->Answer({.a = a, .theta = theta}).outputs, 1e-9);
}

}  // namespace
}  // namespace kweave
