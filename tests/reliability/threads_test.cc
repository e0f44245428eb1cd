// Everything that runs loops on several threads, once each: training of every kind on every structure of
// kernels, predictions, statistics of kernels, and several trainings at the same time. Here the answers are
// compared with those of one thread; under ThreadSanitizer (`make threads`) the same cases are searched for
// races.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <string>
#include <vector>

#include "kweave/kernel_function.h"
#include "kweave/kernel_functions.h"
#include "kweave/kernels.h"
#include "kweave/train.h"

namespace kweave {
namespace {

constexpr Index kSamples = 500;  // more than the pieces of any loop hold, so that all threads get some
constexpr Index kFeatures = 6;

struct Case {
  std::string name;
  TrainOptions options;
  Index classes = 2;
  bool is_sparse = false;
  bool has_matrix = false;
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

// Numbers between 0 and 1 without a generator: the same on every machine.
double Noise(Index k) {
  const double value = std::sin(static_cast<double>(k) * 12.9898) * 43758.5453;
  return value - std::floor(value);
}

Features SparseCopy(const std::vector<double>& values) {
  struct Storage {
    std::vector<Index> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;
  };
  auto owner = std::make_shared<Storage>();
  for (Index i = 0; i < kSamples; ++i) {
    for (Index j = 0; j < kFeatures; ++j) {
      const double value = values[i * kFeatures + j];
      if (value < 0.3) continue;
      owner->columns.push_back(static_cast<std::int32_t>(j));
      owner->values.push_back(value);
    }
    owner->offsets.push_back(std::ssize(owner->values));
  }
  return SparseRows{
      owner->offsets.data(), owner->columns.data(), owner->values.data(), kSamples, kFeatures, owner};
}

GramMatrix LinearGram(const std::vector<double>& values) {
  auto owner = std::make_shared<std::vector<double>>(kSamples * kSamples);
  for (Index i = 0; i < kSamples; ++i) {
    for (Index j = 0; j < kSamples; ++j) {
      double sum = 0;
      for (Index f = 0; f < kFeatures; ++f) sum += values[i * kFeatures + f] * values[j * kFeatures + f];
      (*owner)[i * kSamples + j] = sum;
    }
  }
  return {"gram", DenseRows<double>{owner->data(), kSamples, kSamples, kSamples, owner}};
}

Dataset MakeSamples(const Case& one) {
  std::vector<double> values(kSamples * kFeatures);
  for (Index k = 0; k < std::ssize(values); ++k) values[k] = Noise(k);
  Dataset data;
  data.size = kSamples;
  for (Index i = 0; i < kSamples; ++i) {
    const double score = values[i * kFeatures] + 0.3 * Noise(100'000 + i);
    const auto label =
        std::min<Index>(static_cast<Index>(score / 1.3 * static_cast<double>(one.classes)), one.classes - 1);
    data.labels.text.push_back(std::to_string(label));
    data.labels.number.push_back(static_cast<double>(label));
  }
  if (one.has_matrix) data.matrices = {LinearGram(values)};
  data.views = {{"data", one.is_sparse ? SparseCopy(values) : MakeDense(values, kSamples, kFeatures), {}}};
  return data;
}

Context Threads(int count) {
  Context context;
  context.threads = count;
  return context;
}

TrainOptions With(std::vector<std::string> kernels, void (*change)(TrainOptions&) = nullptr) {
  TrainOptions options;
  options.kernels = std::move(kernels);
  if (change != nullptr) change(options);
  return options;
}

std::vector<Case> Cases() {
  const std::vector<std::string> usual = {"linear", "rbf(gamma=[0.5,2,8])"};
  const std::vector<std::string> mixed = {"rbf(gamma=[0.5,2])", "laplacian(gamma=1)*linear",
                                          "poly(degree=2)"};
  return {
      {"Families", With(usual)},
      {"FamiliesNormOne", With(usual, [](TrainOptions& o) { o.norm = 1; })},
      {"SingleFeatures", With({"each(rbf(gamma=[1,4]))"})},
      {"Composites", With(mixed)},
      {"Sparse", With(usual), 2, true},
      {"Linear", With({"linear", "each(linear)"})},
      {"Matrices", With({"precomputed(file=gram)", "rbf(gamma=1)"}), 2, false, true},
      {"Direct", With(usual, [](TrainOptions& o) { o.certificate = KernelEvaluation::kDirect; })},
      {"Block", With(usual, [](TrainOptions& o) { o.solver = SolverKind::kBlock; })},
      {"Logistic", With(usual, [](TrainOptions& o) { o.loss = "logistic"; })},
      {"Regression", With(usual, [](TrainOptions& o) { o.task = Task::kRegress; })},
      {"OneClass", With(usual, [](TrainOptions& o) { o.task = Task::kOneClass; })},
      {"OneAgainstRest", With(usual, [](TrainOptions& o) { o.multiclass = Multiclass::kOneAgainstRest; }), 3},
      {"OneAgainstOne", With(usual, [](TrainOptions& o) { o.multiclass = Multiclass::kOneAgainstOne; }), 3},
      {"Product",
       With({"rbf(gamma=1)", "each(rbf(gamma=1))"}, [](TrainOptions& o) { o.combine = Combine::kProduct; })},
      {"Joint", With(usual, [](TrainOptions& o) { o.multiclass = Multiclass::kJoint; }), 3},
  };
}

class ThreadsTest : public ::testing::TestWithParam<Case> {};

// Both bounds hold whatever the number of threads, so each primal is above each dual. (Those of a product
// hold at its answer alone.)
TEST_P(ThreadsTest, AnswersAgreeWithOneThread) {
  const Dataset data = MakeSamples(GetParam());
  const Model one = Train(data, GetParam().options, Threads(1)),
              several = Train(data, GetParam().options, Threads(3));
  if (GetParam().options.combine == Combine::kSum) {
    const double rounding = 1e-9 * std::abs(one.summary().primal);
    EXPECT_LE(one.summary().dual, several.summary().primal + rounding);
    EXPECT_LE(several.summary().dual, one.summary().primal + rounding);
  }
  if (GetParam().has_matrix) return;  // predictions would need files
  const std::vector<double> alone = several.Predict(data, Threads(1)).decision,
                            together = several.Predict(data, Threads(3)).decision;
  ASSERT_EQ(alone.size(), together.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(alone[i], together[i], 1e-6);
}

TEST_P(ThreadsTest, KernelsAreAnalysed) {
  const Dataset data = MakeSamples(GetParam());
  const KernelAnalysis one = AnalyzeKernels(data, GetParam().options, Threads(1)),
                       several = AnalyzeKernels(data, GetParam().options, Threads(3));
  ASSERT_EQ(one.alignment.size(), several.alignment.size());
  for (std::size_t k = 0; k < one.alignment.size(); ++k) {
    EXPECT_NEAR(one.alignment[k], several.alignment[k], 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ThreadsTest, ::testing::ValuesIn(Cases()),
                         [](const auto& chosen) { return chosen.param.name; });

TEST(ThreadsOfFunctions, LearnTheSameKernel) {
  const Dataset data = MakeSamples(Cases().front());
  std::vector<double> values, labels;
  for (Index k = 0; k < kSamples * kFeatures; ++k) values.push_back(Noise(k));
  for (const double label : data.labels.number) labels.push_back(label > 0 ? 1 : -1);
  const GaussianFunction kernel(SampleTable(values, kFeatures));
  const BoxRegularizer box(0, 10, 0.1);
  const KernelOptions few = {.max_iterations = 10};
  const LearnedKernel one = LearnKernel(kernel, box, labels, few, Threads(1)),
                      several = LearnKernel(kernel, box, labels, few, Threads(3));
  EXPECT_NEAR(one.objective, several.objective, KernelOptions().gap * one.objective);
}

// The linear kernel between samples, where the classes are equal.
GramMatrix PairGram(const GramMatrix& samples, Index size, Index classes) {
  const auto& values = std::get<DenseRows<double>>(samples.values);
  const Index pairs = size * classes;
  auto owner = std::make_shared<std::vector<double>>(pairs * pairs, 0.0);
  for (Index r = 0; r < pairs; ++r) {
    for (Index c = r % classes; c < pairs; c += classes) {
      (*owner)[r * pairs + c] = values.data[r / classes * values.stride + c / classes];
    }
  }
  return {"pairs", DenseRows<double>{owner->data(), pairs, pairs, pairs, owner}};
}

TEST(ThreadsOfPairs, AnswersAgreeWithOneThread) {
  constexpr Index kSize = 60, kClasses = 3;
  const Case one{"Pairs", With({"joint(file=pairs)", "rbf(gamma=1)"}), kClasses, false, true};
  Dataset data = MakeSamples(one);
  data.matrices = {PairGram(data.matrices[0], kSize, kClasses)};
  std::vector<double> values;
  for (Index k = 0; k < kSize * kFeatures; ++k) values.push_back(Noise(k));
  data.views = {{"data", MakeDense(values, kSize, kFeatures), {}}};
  data.labels.text.resize(kSize);
  data.labels.number.resize(kSize);
  data.size = kSize;
  TrainOptions options = one.options;
  options.multiclass = Multiclass::kJoint;
  const Model model = Train(data, options, Threads(3));
  EXPECT_LE(model.summary().relative_gap, options.gap);
  const std::vector<double> alone = model.Predict(data, Threads(1)).decision,
                            together = model.Predict(data, Threads(3)).decision;
  ASSERT_EQ(alone.size(), static_cast<std::size_t>(kSize * kClasses));
  ASSERT_EQ(together.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(alone[i], together[i], 1e-9);
}

TEST(ThreadsOfTheCaller, TrainAndPredictAtTheSameTime) {
  const std::vector<Case> cases = Cases();
  std::vector<std::future<double>> gaps;
  for (std::size_t k = 0; k < 4; ++k) {
    gaps.push_back(std::async(std::launch::async, [&one = cases[k]] {
      const Dataset data = MakeSamples(one);
      const Model model = Train(data, one.options, Threads(2));
      model.Predict(data, Threads(2));
      return model.summary().relative_gap;
    }));
  }
  for (std::future<double>& gap : gaps) EXPECT_LE(gap.get(), TrainOptions().gap);
}

TEST(ThreadsOfTheCaller, ShareAModel) {
  const Case one = Cases().front();
  const Dataset data = MakeSamples(one);
  const Model model = Train(data, one.options, Threads(1));
  const std::vector<double> expected = model.Predict(data, Threads(1)).decision;
  std::vector<std::future<std::vector<double>>> decisions;
  for (int k = 0; k < 4; ++k) {
    decisions.push_back(
        std::async(std::launch::async, [&] { return model.Predict(data, Threads(2)).decision; }));
  }
  for (auto& decision : decisions) {
    const std::vector<double> found = decision.get();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6);
  }
}

}  // namespace
}  // namespace kweave
