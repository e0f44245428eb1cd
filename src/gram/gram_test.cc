#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include "base/random.h"
#include "gram/make_gram.h"
#include "kernel/kernel_table.h"
#include "kernel/language.h"

namespace kweave {
namespace {

// Features in [0, 1], some of them zero, as dense double, dense float or sparse.
enum class Storage { kDouble, kFloat, kSparse };

struct SparseOwner {
  std::vector<Index> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

View MakeView(const std::string& name, Index n, Index d, std::uint64_t seed, Storage storage) {
  Random random(seed);
  std::vector<double> values(n * d);
  for (double& v : values) v = random.Uniform() < 0.3 ? 0 : static_cast<float>(random.Uniform());
  if (storage == Storage::kDouble) return {name, MakeDense(values, n, d), {}};
  if (storage == Storage::kFloat) {
    auto owner = std::make_shared<std::vector<float>>(values.begin(), values.end());
    return {name, DenseRows<float>{owner->data(), n, d, d, owner}, {}};
  }
  auto owner = std::make_shared<SparseOwner>();
  for (Index i = 0; i < n; ++i) {
    for (Index f = 0; f < d; ++f) {
      if (values[i * d + f] == 0) continue;
      owner->columns.push_back(static_cast<std::int32_t>(f));
      owner->values.push_back(values[i * d + f]);
    }
    owner->offsets.push_back(static_cast<Index>(owner->columns.size()));
  }
  return {
      name, SparseRows{owner->offsets.data(), owner->columns.data(), owner->values.data(), n, d, owner}, {}};
}

// k_m(x,z) before normalisation, by plain loops.
double PlainTerm(const KernelSet& kernels, const KernelTerm& term, std::span<const View> left, Index i,
                 std::span<const View> right, Index j) {
  const auto row = [&](const View& view, Index at) {
    std::vector<double> all(ColumnCount(view.features)), picked;
    CopyRow(view.features, at, all);
    const FeatureSubset& subset = kernels.subsets[term.subset];
    if (subset.empty()) return all;
    for (std::int32_t f : subset) picked.push_back(all[f]);
    return picked;
  };
  const double base = term.kind->base->plain(row(left[term.view], i), row(right[term.view], j),
                                             term.kind->BaseParameter(term.parameters));
  return ShapeValue(*term.kind->shape, term.parameters, base);
}

double PlainKernel(const KernelSet& kernels, Index m, std::span<const View> left, Index i,
                   std::span<const View> right, Index j) {
  if (!kernels.IsComposite(m)) return PlainTerm(kernels, kernels.Term(m), left, i, right, j);
  const Composite& composite = kernels.composites[kernels.order[m].member];
  std::vector<double> stack;
  for (const auto& node : composite.nodes) {
    if (node.operation == Composite::Operation::kTerm) {
      stack.push_back(PlainTerm(kernels, composite.terms[node.argument], left, i, right, j));
      continue;
    }
    double value = stack[stack.size() - node.argument];
    for (Index a = 1; a < node.argument; ++a) {
      const double other = stack[stack.size() - node.argument + a];
      value = node.operation == Composite::Operation::kProduct ? value * other : value + other;
    }
    if (node.operation == Composite::Operation::kMean) value /= node.argument;
    stack.resize(stack.size() - node.argument);
    stack.push_back(value);
  }
  return stack[0];
}

// One kernel matrix between training samples and all samples (training ones first), normalised by the
// definitions.
struct PlainMatrix {
  Index n, total;
  std::vector<double> k;  // total x total, raw then normalised
  double& at(Index i, Index j) { return k[i * total + j]; }

  double MeanOfTraining() {
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) sum += at(i, j);
    }
    return sum / (n * n);
  }
  double MeanDiagonal() {
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += at(i, i);
    return sum / n;
  }
  void Apply(Normalizer step) {
    if (step == Normalizer::kTrace || step == Normalizer::kMultiplicative) {
      const double by = MeanDiagonal() - (step == Normalizer::kTrace ? 0 : MeanOfTraining());
      for (double& v : k) v = by > 1e-12 ? v / by : 0;
    } else if (step == Normalizer::kSpherical) {
      std::vector<double> diagonal(total);
      for (Index i = 0; i < total; ++i) diagonal[i] = at(i, i);
      for (Index i = 0; i < total; ++i) {
        for (Index j = 0; j < total; ++j) {
          const double product = diagonal[i] * diagonal[j];
          at(i, j) = product > 0 ? at(i, j) / std::sqrt(product) : 0;
        }
      }
    } else {
      std::vector<double> mean(total, 0.0);
      for (Index i = 0; i < total; ++i) {
        for (Index j = 0; j < n; ++j) mean[i] += at(i, j) / n;
      }
      const double all = MeanOfTraining();
      for (Index i = 0; i < total; ++i) {
        for (Index j = 0; j < total; ++j) at(i, j) += all - mean[i] - mean[j];
      }
    }
  }
};

// Every kernel of the table by itself (some at several widths, enough for a table), on single features and in
// a product.
std::vector<std::string> KernelsOfTheTable() {
  std::vector<std::string> specs;
  for (const KernelKind* kind : KernelTable()) {
    if (kind->base->source == BaseQuantity::Source::kFile || kind->IsOnSequences()) continue;
    std::vector<std::string> values;
    for (const ParameterRule& rule : kind->parameters) {
      const bool is_of_base = kind->base_parameter == &rule - kind->parameters.data();
      std::string some = is_of_base ? "[0.5,1.25]" : "[0.25,0.75]";
      if (rule.width != ParameterRule::Width::kNone) some = "logspace(0.3,3,7)";
      if (rule.is_whole) some = "1..2";
      if (!rule.choices.empty()) some = fmt::format("[{}]", fmt::join(rule.choices, ","));
      values.push_back(fmt::format("{}={}", rule.name, some));
    }
    const std::string kernel =
        values.empty() ? std::string(kind->name) : fmt::format("{}({})", kind->name, fmt::join(values, ","));
    specs.push_back(kernel + "@a");
    specs.push_back(fmt::format("each({})@b[1..2]", kernel));
    specs.push_back(fmt::format("{}@b[2..4]*rbf(gamma=0.5)@a", kind->name));
  }
  return specs;
}

std::vector<std::string> ManyKernels() {
  std::vector<std::string> specs = KernelsOfTheTable();
  for (const char* spec :
       {"linear@a", "linear@b", "linear@a[2]", "linear@b[1..3]", "poly(degree=1..3,gamma=0.5,coef0=1)@a",
        "poly(degree=1..4,gamma=[0.1,0.3],coef0=[0,1])@b", "rbf(gamma=logspace(0.01,100,12))@a",
        "rbf(gamma=[0.1,1])@b", "each(rbf(gamma=[0.5,2]))@b", "laplacian(gamma=logspace(0.1,10,9))@a",
        "chi2(gamma=0.7)@b", "intersection@a", "tanimoto@b", "rbf(gamma=1)@a*linear@b",
        "mean(linear@a,rbf(gamma=2)@b,poly(degree=2,gamma=1,coef0=0)@a)", "linear@a+tanimoto@a"}) {
    specs.emplace_back(spec);
  }
  return specs;
}

class GramTest : public testing::TestWithParam<std::tuple<Storage, bool, FamilyEvaluation, std::string>> {
 protected:
  // Rows of training samples 0..n-1 first, then new ones: the same generator makes both.
  static constexpr Index kTrain = 37, kNew = 11;
};

TEST_P(GramTest, AgreesWithTheDefinitions) {
  const auto& [storage, use_float, evaluation, normalize] = GetParam();
  ThreadPool pool(2);
  std::vector<View> train, fresh, all;
  for (const auto& [name, d] : {std::pair{"a", 13}, std::pair{"b", 4}}) {
    const View both = MakeView(name, kTrain + kNew, d, 3 + d, storage);
    std::vector<Index> first(kTrain), rest(kNew);
    std::iota(first.begin(), first.end(), 0);
    std::iota(rest.begin(), rest.end(), kTrain);
    all.push_back(both);
    train.push_back({name, SelectRows(both.features, first), {}});
    fresh.push_back({name, SelectRows(both.features, rest), {}});
  }
  const KernelSet kernels = ParseKernels(ManyKernels(), train, 0);
  const Index M = kernels.size();
  const std::vector<Normalizer> sequence = ParseNormalizers(normalize);
  const Normalization normalization = FitNormalization(kernels, train, sequence, pool);
  const GramOptions options{use_float, evaluation, /*cache_bytes=*/20000, /*factors_sum_to_zero=*/false};
  const auto gram = MakeGram(kernels, train, normalization, options, pool);
  const auto cross = MakeCrossGram(kernels, train, fresh, normalization, {}, options, pool);

  std::vector<PlainMatrix> plain(M);
  for (Index m = 0; m < M; ++m) {
    plain[m] = {kTrain, kTrain + kNew, std::vector<double>((kTrain + kNew) * (kTrain + kNew))};
    for (Index i = 0; i < kTrain + kNew; ++i) {
      for (Index j = 0; j < kTrain + kNew; ++j) plain[m].at(i, j) = PlainKernel(kernels, m, all, i, all, j);
    }
    for (Normalizer step : sequence) plain[m].Apply(step);
  }

  Random random(1);
  std::vector<double> theta(M), a(kTrain);
  for (double& t : theta) t = random.Uniform() < 0.2 ? 0 : random.Uniform();
  for (double& v : a) v = random.Uniform() < 0.3 ? 0 : random.Uniform() - 0.5;
  double largest = 1;
  for (Index m = 0; m < M; ++m) {
    for (double v : plain[m].k) largest = std::max(largest, std::abs(v));
  }
  const double tolerance = (use_float ? 3e-6 : 1e-12) * largest;

  // Rows, computed, then from the cache, then computed anew, in both types.
  const std::vector<Index> rows{5, 0, 36, 17, 17};
  const double shift = gram->Learn(theta)->shift();
  std::vector<double> exact(rows.size() * kTrain), diagonal(kTrain);
  std::vector<float> rounded(rows.size() * (kTrain + 3));
  for (int repeat = 0; repeat < 3; ++repeat) {
    if (repeat == 2) gram->ReleaseCopies();
    gram->Learn(theta)->Rows(rows, exact.data(), kTrain);
    gram->Learn(theta)->Rows(rows, rounded.data(), kTrain + 3);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (Index j = 0; j < kTrain; ++j) {
        double want = 0;
        for (Index m = 0; m < M; ++m) want += theta[m] * plain[m].at(rows[r], j);
        ASSERT_NEAR(exact[r * kTrain + j] + shift, want, tolerance * M);
        ASSERT_NEAR(rounded[r * (kTrain + 3) + j] + shift, want,
                    (tolerance + 1e-7 * (std::abs(want) + shift)) * M);
      }
    }
  }
  gram->Learn(theta)->Diagonal(diagonal);
  for (Index i = 0; i < kTrain; ++i) {
    double want = 0;
    for (Index m = 0; m < M; ++m) want += theta[m] * plain[m].at(i, i);
    ASSERT_NEAR(diagonal[i] + shift, want, tolerance * M);
  }

  // Quadratics and outputs, on the training samples and on new ones.
  std::vector<double> before = a;  // the expansion of another vector, brought to `a`
  before[3] += 0.5;
  before[kTrain - 1] = 0;
  const auto expansion = gram->Expand(before);
  expansion->MoveTo(a);
  std::vector<double> q(M), out(kTrain), one(M, 0.0), fresh_out(kNew);
  expansion->Quadratics(q);
  for (Index m = 0; m < M; ++m) {
    double want = 0;
    for (Index i = 0; i < kTrain; ++i) {
      for (Index j = 0; j < kTrain; ++j) want += a[i] * a[j] * plain[m].at(i, j);
    }
    EXPECT_NEAR(q[m], want, tolerance * 20) << kernels.Name(m);
  }
  std::vector<double> b(a.rbegin(), a.rend());
  expansion->Products(b, q);
  for (Index m = 0; m < M; ++m) {
    double want = 0;
    for (Index i = 0; i < kTrain; ++i) {
      for (Index j = 0; j < kTrain; ++j) want += b[i] * a[j] * plain[m].at(i, j);
    }
    EXPECT_NEAR(q[m], want, tolerance * 20) << kernels.Name(m);
  }
  const auto cross_expansion = cross->Expand(a);
  for (Index m = 0; m < M; ++m) {
    one[m] = 1;
    expansion->Outputs(one, out);
    cross_expansion->Outputs(one, fresh_out);
    one[m] = 0;
    for (Index j = 0; j < kTrain + kNew; ++j) {
      double want = 0;
      for (Index i = 0; i < kTrain; ++i) want += a[i] * plain[m].at(i, j);
      ASSERT_NEAR(j < kTrain ? out[j] : fresh_out[j - kTrain], want, tolerance * 20)
          << kernels.Name(m) << " at " << j;
    }
  }
  if (evaluation == FamilyEvaluation::kDirect) {
    EXPECT_EQ(gram->shape().table_error, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllWays, GramTest,
    testing::Combine(
        testing::Values(Storage::kDouble, Storage::kFloat, Storage::kSparse), testing::Bool(),
        testing::Values(FamilyEvaluation::kAuto, FamilyEvaluation::kTable, FamilyEvaluation::kDirect),
        testing::Values("none", "trace", "multiplicative", "spherical", "center", "center,multiplicative",
                        "spherical,center,spherical,trace", "multiplicative,spherical")));

TEST(Normalization, NamesKernelsWithoutVariance) {
  ThreadPool pool(1);
  const std::vector<View> views{{"data", MakeDense({1, 0, 1, 2, 1, 5}, 3, 2), {}}};
  const std::vector<std::string> specs{"linear@data[1]", "linear@data[2]", "rbf(gamma=1)@data[1]",
                                       "rbf(gamma=1)"};
  const KernelSet kernels = ParseKernels(specs, views, 0);
  const Normalizer step[] = {Normalizer::kMultiplicative};
  const Normalization normalization = FitNormalization(kernels, views, step, pool);
  EXPECT_EQ(normalization.scale[0], 0);
  EXPECT_GT(normalization.scale[1], 0);
  EXPECT_EQ(normalization.scale[2], 0);
  EXPECT_GT(normalization.scale[3], 0);
}

// Rounding of the mean grows with the number of samples; a constant stays one.
TEST(Normalization, RecognizesConstantFeaturesOfAnySize) {
  ThreadPool pool(1);
  const Normalizer step[] = {Normalizer::kMultiplicative};
  for (Index n = 2; n < 400; n += 3) {
    auto owner = std::make_shared<SparseOwner>();
    std::vector<double> values;
    for (Index i = 0; i < n; ++i) {
      owner->offsets.push_back(2 * (i + 1));
      for (const double value : {0.1, static_cast<double>(i)}) {
        values.push_back(value);
        owner->columns.push_back(static_cast<std::int32_t>(values.size() - 1) % 2);
      }
    }
    owner->values = values;
    const SparseRows sparse{owner->offsets.data(), owner->columns.data(), owner->values.data(), n, 2, owner};
    for (const Features& features : {Features(MakeDense(values, n, 2)), Features(sparse)}) {
      const std::vector<View> views{{"data", features, {}}};
      const KernelSet kernels = ParseKernels(std::vector<std::string>{"each(linear)"}, views, 0);
      const Normalization normalization = FitNormalization(kernels, views, step, pool);
      EXPECT_EQ(normalization.scale[0], 0) << n;
      EXPECT_NEAR(normalization.scale[1] * static_cast<double>(n * n - 1) / 12, 1, 1e-12) << n;
    }
  }
}

TEST(Normalization, FindsTheVarianceOfFeaturesWithLargeMeans) {
  ThreadPool pool(1);
  Random random(2);
  for (Index n : {100, 5000}) {  // statistics in double, and in float
    std::vector<double> far(n), near(n);
    for (Index i = 0; i < n; ++i) {
      near[i] = std::floor(1000 * random.Uniform());
      far[i] = 1.7e9 + near[i];
    }
    const Normalizer step[] = {Normalizer::kMultiplicative};
    std::vector<Normalization> fitted;
    for (const auto& values : {near, far}) {
      const std::vector<View> views{{"data", MakeDense(values, n, 1), {}}};
      const KernelSet kernels = ParseKernels(std::vector<std::string>{"linear", "rbf(gamma=1e-5)"}, views, 0);
      fitted.push_back(FitNormalization(kernels, views, step, pool));
    }
    for (Index m : {0, 1}) EXPECT_NEAR(fitted[1].scale[m] / fitted[0].scale[m], 1, 1e-5);
  }
}

// Variances of so many samples are those of 20,000 of them.
TEST(Normalization, DrawsTheSamplesOfVariancesByTheSeed) {
  ThreadPool pool(1);
  Random random(3);
  std::vector<double> values(20'500);
  for (double& value : values) value = random.Uniform();
  const std::vector<View> views{{"data", MakeDense(values, static_cast<Index>(values.size()), 1), {}}};
  const KernelSet kernels = ParseKernels(std::vector<std::string>{"linear"}, views, 0);
  const Normalizer step[] = {Normalizer::kMultiplicative};
  const auto scale = [&](std::uint64_t seed) {
    return FitNormalization(kernels, views, step, pool, seed).scale[0];
  };
  EXPECT_EQ(scale(1), scale(1));
  EXPECT_NE(scale(1), scale(2));
}

TEST(Gram, WorkFollowsTheEntriesOfSparseRowsNotTheirIndices) {
  ThreadPool pool(1);
  auto owner = std::make_shared<SparseOwner>();
  owner->offsets = {0, 2, 4, 5};
  owner->columns = {0, 2147483646, 5, 2147483646, 0};
  owner->values = {1, 2, 3, 4, 5};
  const std::vector<View> views{
      {"data",
       SparseRows{owner->offsets.data(), owner->columns.data(), owner->values.data(), 3, 2147483647, owner},
       {}}};
  const KernelSet kernels = ParseKernels(
      std::vector<std::string>{"linear", "poly(degree=2,gamma=1,coef0=0)", "rbf(gamma=median)"}, views, 0);
  const Normalization none = FitNormalization(kernels, views, {}, pool);
  const auto gram = MakeGram(kernels, views, none, {}, pool);
  const std::vector<Index> rows{0, 1, 2};
  std::vector<double> values(9);
  gram->Learn(std::vector<double>{1, 0, 0})->Rows(rows, values.data(), 3);
  EXPECT_EQ(values, (std::vector<double>{5, 8, 5, 8, 25, 0, 5, 0, 25}));
  gram->Learn(std::vector<double>{0, 1, 0})->Rows(rows, values.data(), 3);
  EXPECT_EQ(values, (std::vector<double>{25, 64, 25, 64, 625, 0, 25, 0, 625}));
  EXPECT_EQ(kernels.Term(2).parameters[0], 1 / 20.0);  // squared distances 14, 20, 50
}

TEST(Gram, CentringLinearKernelsChangesNothingForFactorsThatSumToZero) {
  ThreadPool pool(1);
  Random random(5);
  const Index n = 40, d = 3;
  std::vector<double> values(n * d);
  for (double& v : values) v = 10000 + random.Uniform();
  const std::vector<View> views{{"data", MakeDense(values, n, d), {}}};
  const KernelSet kernels = ParseKernels(std::vector<std::string>{"linear"}, views, 0);
  const Normalization none = FitNormalization(kernels, views, {}, pool);
  const auto exact = MakeGram(kernels, views, none, {}, pool);
  const auto centred = MakeGram(kernels, views, none, {true, FamilyEvaluation::kAuto, 0, true}, pool);
  const std::vector<double> theta{1};
  const std::vector<Index> rows{3, 9};
  std::vector<double> want(2 * n), got(2 * n);
  exact->Learn(theta)->Rows(rows, want.data(), n);
  centred->Learn(theta)->Rows(rows, got.data(), n);
  const double offset = (want[0] - want[n]) - (got[0] - got[n]);
  for (Index j = 0; j < n; ++j) EXPECT_NEAR((want[j] - want[n + j]) - (got[j] - got[n + j]), offset, 1e-5);
}

TEST(Gram, FeaturesOfLinearKernelsMakeTheirMatrix) {
  ThreadPool pool(1);
  const Index n = 30;
  for (const bool use_float : {false, true}) {
    const std::vector<View> views = {MakeView("a", n, 5, 1, Storage::kDouble),
                                     MakeView("b", n, 40, 2, Storage::kSparse)};
    const KernelSet kernels =
        ParseKernels(std::vector<std::string>{"linear@a", "each(linear)@a", "linear@b[2..7]"}, views, 0);
    const Normalization normalization =
        FitNormalization(kernels, views, std::vector<Normalizer>{Normalizer::kMultiplicative}, pool);
    const std::unique_ptr<Gram> gram =
        MakeGram(kernels, views, normalization, {.use_float = use_float}, pool);
    std::vector<double> theta(static_cast<std::size_t>(kernels.size()), 0.3), expected(n), row(n), w;
    theta[2] = 0;
    const std::unique_ptr<FeatureMatrix> features = gram->Learn(theta)->Features();
    ASSERT_TRUE(features);
    for (Index i = 0; i < n; ++i) {
      gram->Learn(theta)->Rows(std::vector<Index>{i}, expected.data(), n);
      std::vector<double> unit(n, 0.0);
      unit[i] = 1;
      w.resize(features->columns());
      features->MultiplyTransposed(unit, w, nullptr);
      features->Multiply(w, row, nullptr);
      for (Index j = 0; j < n; ++j) EXPECT_NEAR(row[j], expected[j], use_float ? 1e-5 : 1e-12);
    }
  }
}

}  // namespace
}  // namespace kweave
