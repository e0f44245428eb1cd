// Every kernel on sequences, in every way a Gram has to it, against its plain loop.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "gram/gram_plan.h"
#include "gram/make_gram.h"
#include "kernel/kernel_table.h"
#include "kernel/language.h"
#include "kernel/sequence_kernel.h"

namespace kweave {
namespace {

std::vector<int> LettersAt(const Features& features, Index i) {
  const auto& sequences = std::get<SequenceRows>(features);
  std::vector<double> row(static_cast<std::size_t>(sequences.cols));
  CopyRow(features, i, row);
  return {row.begin(), row.begin() + sequences.lengths[i]};
}

double PlainTerm(const KernelSet& kernels, const KernelTerm& term, const View& left, Index i,
                 const View& right, Index j) {
  return term.kind->base->sequences->plain(LettersAt(left.features, i), LettersAt(right.features, j),
                                           term.parameters, RegionOf(kernels.subsets[term.subset]),
                                           std::get<SequenceRows>(left.features).alphabet);
}

// Of one length, or of several, with few letters so that words are shared; one in `unknown` is not known.
View RandomSequences(Index count, Index least, Index most, double unknown, const std::string& alphabet,
                     std::uint64_t seed) {
  Random random(seed);
  const auto below = [&](Index n) {
    return std::min(n - 1, static_cast<Index>(random.Uniform() * static_cast<double>(n)));
  };
  std::vector<std::string> texts(static_cast<std::size_t>(count));
  for (std::string& text : texts) {
    const Index length = least + below(most - least + 1);
    for (Index at = 0; at < length; ++at) {
      const bool is_common = random.Uniform() < 0.6;
      text += random.Uniform() < unknown
                  ? '?'
                  : alphabet[static_cast<std::size_t>(
                        is_common ? at % 2 : below(static_cast<Index>(alphabet.size())))];
    }
  }
  return {"seq", MakeSequences(texts, alphabet), {}};
}

struct Sequences {
  View left, right;
};

Sequences SomeSequences(double unknown, const std::string& alphabet = "ACGT") {
  return {RandomSequences(37, 45, 45, unknown, alphabet, 1),
          RandomSequences(21, 45, 45, unknown, alphabet, 2)};
}

const std::vector<std::string> kEqualLengths = {"wd(order=1..20)",
                                                "wd(degree=[1,5,20])",
                                                "wd(degree=4)@seq[1..12]",
                                                "wd(degree=12)@seq[-15..]",
                                                "wd(order=3)@seq[at 7..9]",
                                                "each(wd(degree=8))@seq[20..30]",
                                                "each(wd(order=2),window=9,step=4)"};

void ExpectEqualToPlain(const KernelSet& kernels, const std::vector<View>& left,
                        const std::vector<View>& right, Gram& gram, double tolerance) {
  for (Index m = 0; m < kernels.size(); ++m) {
    std::vector<double> theta(static_cast<std::size_t>(kernels.size()), 0.0);
    theta[static_cast<std::size_t>(m)] = 1;
    const auto learned = gram.Learn(theta);
    std::vector<double> row(static_cast<std::size_t>(gram.right_count()));
    for (Index i = 0; i < gram.left_count(); i += 5) {
      learned->Rows(std::vector<Index>{i}, row.data(), gram.right_count());
      for (Index j = 0; j < gram.right_count(); ++j) {
        const double plain = PlainTerm(kernels, kernels.Term(m), left[0], i, right[0], j);
        ASSERT_NEAR(row[static_cast<std::size_t>(j)] + learned->shift(), plain, tolerance * (1 + plain))
            << kernels.Name(m);
      }
    }
  }
}

// a' K_m a and K(theta) a by the plain loop.
void ExpectPlainProducts(const KernelSet& kernels, const std::vector<View>& left,
                         const std::vector<View>& right, Gram& gram, bool is_training) {
  Random random(5);
  std::vector<double> a(static_cast<std::size_t>(gram.left_count()));
  for (double& value : a) value = random.Uniform() - 0.5;
  std::vector<double> theta(static_cast<std::size_t>(kernels.size()));
  for (double& value : theta) value = random.Uniform();
  VectorRequest request{.a = a, .theta = theta};
  request.wants_quadratics = is_training;
  const std::vector<VectorAnswer> answers = gram.AnswerAll(std::vector<VectorRequest>{request});
  std::vector<double> outputs(static_cast<std::size_t>(gram.right_count()), 0.0);
  for (Index m = 0; m < kernels.size(); ++m) {
    double quadratic = 0, size = 0;
    for (Index j = 0; j < gram.right_count(); ++j) {
      double product = 0;
      for (Index i = 0; i < gram.left_count(); ++i) {
        product +=
            a[static_cast<std::size_t>(i)] * PlainTerm(kernels, kernels.Term(m), left[0], i, right[0], j);
      }
      outputs[static_cast<std::size_t>(j)] += theta[static_cast<std::size_t>(m)] * product;
      if (is_training) quadratic += a[static_cast<std::size_t>(j)] * product;
      size += std::abs(product);
    }
    if (!is_training) continue;
    EXPECT_NEAR(answers[0].quadratics[static_cast<std::size_t>(m)], quadratic, 1e-12 * (1 + size))
        << kernels.Name(m);
    EXPECT_GE(quadratic, -1e-10 * size) << kernels.Name(m) << " is not positive semidefinite";
  }
  for (std::size_t j = 0; j < outputs.size(); ++j) EXPECT_NEAR(answers[0].outputs[j], outputs[j], 1e-9);
}

TEST(SequenceGram, EqualsThePlainLoop) {
  ThreadPool pool(2);
  for (const auto& [unknown, alphabet] : {std::pair(0.0, "ACGT"), std::pair(0.05, "ACGT"),
                                          std::pair(0.02, "ACDEFGHIKLMNPQRSTVWY"), std::pair(0.0, "ab")}) {
    const Sequences sequences = SomeSequences(unknown, alphabet);
    const std::vector<View> left = {sequences.left}, right = {sequences.right};
    const KernelSet kernels = ParseKernels(kEqualLengths, left, 0);
    const Normalization none = FitNormalization(kernels, left, {}, pool);
    for (const bool use_float : {false, true}) {
      const GramOptions options{.use_float = use_float};
      const auto gram = MakeGram(kernels, left, none, options, pool);
      ExpectEqualToPlain(kernels, left, left, *gram, use_float ? 1e-5 : 1e-12);
      ExpectPlainProducts(kernels, left, left, *gram, /*is_training=*/true);
      const auto cross = MakeCrossGram(kernels, left, right, none, {}, options, pool);
      ExpectEqualToPlain(kernels, left, right, *cross, use_float ? 1e-5 : 1e-12);
      ExpectPlainProducts(kernels, left, right, *cross, /*is_training=*/false);
    }
  }
}

// Through pairs: normalisations that are no factor, and products with other kernels.
TEST(SequenceGram, EvaluatesPairsWhereWordsWillNotDo) {
  ThreadPool pool(2);
  const Sequences sequences = SomeSequences(0.05);
  const std::vector<View> views = {sequences.left};
  const KernelSet kernels =
      ParseKernels(std::vector<std::string>{"wd(degree=5)", "wd(order=2)*wd(order=1)@seq[1..9]"}, views, 0);
  const std::vector<Normalizer> spherical = {Normalizer::kSpherical};
  const Normalization fitted = FitNormalization(kernels, views, spherical, pool);
  const auto gram = MakeGram(kernels, views, fitted, {}, pool);
  const auto value = [&](Index m, Index i, Index j) {
    double product = 1;
    for (const KernelTerm& term : kernels.Expression(m).terms)
      product *= PlainTerm(kernels, term, views[0], i, views[0], j);
    return product;
  };
  for (Index m = 0; m < 2; ++m) {
    std::vector<double> theta = {m == 0 ? 1.0 : 0.0, m == 1 ? 1.0 : 0.0}, row(37);
    const auto learned = gram->Learn(theta);
    for (Index i = 0; i < 37; i += 6) {
      learned->Rows(std::vector<Index>{i}, row.data(), 37);
      for (Index j = 0; j < 37; ++j) {
        EXPECT_NEAR(row[static_cast<std::size_t>(j)] + learned->shift(),
                    value(m, i, j) / std::sqrt(value(m, i, i) * value(m, j, j)), 1e-12);
      }
    }
  }
}

TEST(SequenceGram, PlansWordsForFactorsAndPairsForTheRest) {
  const Sequences sequences = SomeSequences(0);
  const std::vector<View> views = {sequences.left};
  const KernelSet kernels = ParseKernels(kEqualLengths, views, 0);
  const auto plan = [&](std::vector<Normalizer> sequence) {
    return PlanGram(kernels, {views, views, true, {}}, UnfittedNormalization(kernels, views, sequence),
                    FamilyEvaluation::kAuto, true);
  };
  const GramPlan words = plan({Normalizer::kMultiplicative}), pairs = plan({Normalizer::kCenter});
  ASSERT_EQ(words.runs.size(), 1U);
  EXPECT_EQ(static_cast<Index>(words.runs[0].members.size()), kernels.size());
  EXPECT_EQ(words.MatrixCount(), 0);
  EXPECT_GT(words.Bytes(), 0U);
  EXPECT_TRUE(pairs.runs.empty());
  EXPECT_EQ(pairs.MatrixCount(), kernels.size());
}

}  // namespace
}  // namespace kweave
