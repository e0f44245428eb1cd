// What every back end must do (docs/dev/adding-a-back-end.md), run on the one that programs use, at both
// precisions, on a plain one, and on an accelerator where there is one.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/dot.h"
#include "base/random.h"
#include "certificate/certificate.h"
#include "gram/device_gram.h"
#include "gram/make_gram.h"
#include "kernel/language.h"
#include "kweave/context.h"
#include "loss/epsilon_insensitive.h"
#include "loss/hinge.h"
#include "qp/solve.h"
#include "qp/solver_setup.h"
#include "regularizer/lp_norm.h"
#include "tests/support/reference_gram.h"
#include "weights/run/gram_rows.h"
#include "weights/run/learn.h"

namespace kweave {
namespace {

constexpr Index kSamples = 45, kFeatures = 4;

struct BackEnd {
  std::string name;
  std::unique_ptr<Gram> (*make)(const KernelSet&, std::span<const View>, const Normalization&, ThreadPool&);
  bool has_solver = false;  // of its own
  bool is_float = false;
  double rounding = 1e-12;  // relative, of values and sums
  // What it serves.
  std::vector<std::string> kernels = {"linear", "rbf(gamma=logspace(0.05,5,8))", "each(rbf(gamma=0.5))",
                                      "poly(degree=2,gamma=0.5,coef0=1)", "linear*rbf(gamma=1)"};
  std::vector<std::string> normalizers = {"none", "multiplicative", "spherical,center"};
};

std::unique_ptr<Gram> MakeCpu(const KernelSet& kernels, std::span<const View> views,
                              const Normalization& normalization, ThreadPool& pool, bool use_float) {
  return MakeGram(kernels, views, normalization, {.use_float = use_float, .cache_bytes = 1 << 14}, pool);
}

// That of this machine; null: it has none, or the program was built without code for it.
const DeviceUse* OwnDevice() {
  static const std::unique_ptr<Device> device = []() -> std::unique_ptr<Device> {
    try {
      return OpenDevice(0);
    } catch (const DeviceError&) {
      return nullptr;
    }
  }();
  static const DeviceUse use{device.get(), 0, [](const std::string& why) { ADD_FAILURE() << why; }};
  return device ? &use : nullptr;
}

BackEnd OnDevice(BackEnd back_end) {
  back_end.has_solver = true;
  back_end.kernels = {"linear",
                      "rbf(gamma=logspace(0.05,5,8))",
                      "each(rbf(gamma=0.5))",
                      "poly(degree=2,gamma=0.5,coef0=1)",
                      "rbf(gamma=[0.3,3])@x[1..3]",
                      "matern(nu=1.5,length_scale=2)"};
  back_end.normalizers = {"none", "multiplicative", "trace"};
  return back_end;
}

std::vector<BackEnd> BackEnds() {
  std::vector<BackEnd> back_ends = {
      {.name = "cpu",
       .make = [](const KernelSet& kernels, std::span<const View> views, const Normalization& normalization,
                  ThreadPool& pool) { return MakeCpu(kernels, views, normalization, pool, false); }},
      {.name = "cpu_float",
       .make = [](const KernelSet& kernels, std::span<const View> views, const Normalization& normalization,
                  ThreadPool& pool) { return MakeCpu(kernels, views, normalization, pool, true); },
       .is_float = true,
       .rounding = 1e-5},
      {.name = "reference",
       .make = [](const KernelSet& kernels, std::span<const View> views, const Normalization& normalization,
                  ThreadPool&) -> std::unique_ptr<Gram> {
         return std::make_unique<testing::ReferenceGram>(kernels, views, normalization);
       },
       .has_solver = true},
  };
  if (OwnDevice() == nullptr) return back_ends;
  back_ends.push_back(OnDevice({.name = "device",
                                .make = [](const KernelSet& kernels, std::span<const View> views,
                                           const Normalization& normalization, ThreadPool& pool) {
                                  return MakeGram(kernels, views, normalization,
                                                  {.use_float = false, .device = OwnDevice()}, pool);
                                }}));
  back_ends.push_back(OnDevice({.name = "device_float",
                                .make =
                                    [](const KernelSet& kernels, std::span<const View> views,
                                       const Normalization& normalization, ThreadPool& pool) {
                                      return MakeGram(kernels, views, normalization,
                                                      {.use_float = true, .device = OwnDevice()}, pool);
                                    },
                                .is_float = true,
                                .rounding = 1e-5}));
  return back_ends;
}

class BackEndTest : public ::testing::TestWithParam<BackEnd> {
 protected:
  void Use(const std::string& normalizers, const std::vector<std::string>& specs = GetParam().kernels) {
    Random random(3);
    std::vector<double> values(kSamples * kFeatures);
    for (double& value : values) value = 2 * random.Uniform() - 1;
    views_ = {{"x", MakeDense(values, kSamples, kFeatures), {}}};
    for (Index i = 0; i < kSamples; ++i) {
      const double* x = values.data() + i * kFeatures;
      y_.push_back(x[0] * x[1] + 0.3 * x[2] + 0.1 * (random.Uniform() - 0.5) > 0 ? 1 : -1);
    }
    kernels_ = ParseKernels(specs, views_, 0);
    normalization_ = FitNormalization(kernels_, views_, ParseNormalizers(normalizers), pool_);
    gram_ = GetParam().make(kernels_, views_, normalization_, pool_);
  }
  std::vector<double> Draw(std::size_t size, std::uint64_t seed, double zeros = 0.3) {
    Random random(seed);
    std::vector<double> values(size);
    for (double& value : values) value = random.Uniform() < zeros ? 0 : random.Uniform();
    return values;
  }
  std::size_t kernel_count() const { return static_cast<std::size_t>(kernels_.size()); }
  // All of K(theta), with what rows leave out.
  std::vector<double> Matrix(const LearnedMatrix& learned) {
    std::vector<Index> all(kSamples);
    std::iota(all.begin(), all.end(), Index{0});
    std::vector<double> matrix(kSamples * kSamples);
    learned.Rows(all, matrix.data(), kSamples);
    for (double& value : matrix) value += learned.shift();
    return matrix;
  }
  std::vector<double> Multiply(std::span<const double> matrix, std::span<const double> a) {
    std::vector<double> out;
    for (Index i = 0; i < kSamples; ++i) out.push_back(Dot(matrix.subspan(i * kSamples, kSamples), a));
    return out;
  }
  std::vector<double> Unit(std::size_t m) {
    std::vector<double> unit(kernel_count(), 0.0);
    unit[m] = 1;
    return unit;
  }
  double tolerance(double size) const { return GetParam().rounding * 100 * (1 + std::abs(size)); }
  void ExpectNear(std::span<const double> got, std::span<const double> want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], want[k], tolerance(want[k])) << k;
  }

  ThreadPool pool_{2};
  std::vector<View> views_;
  std::vector<double> y_;
  KernelSet kernels_;
  Normalization normalization_;
  std::unique_ptr<Gram> gram_;
};

TEST_P(BackEndTest, RowsAreThoseOfTheDefinitions) {
  for (const std::string& normalizers : GetParam().normalizers) {
    y_.clear();
    Use(normalizers);
    const testing::ReferenceGram plain(kernels_, views_, normalization_);
    for (std::size_t m = 0; m < kernel_count(); ++m) {
      const std::vector<double> matrix = Matrix(*gram_->Learn(Unit(m)));
      for (Index i = 0; i < kSamples; ++i) {
        for (Index j = 0; j < kSamples; ++j) {
          const double want = plain.Value(static_cast<Index>(m), i, j);
          ASSERT_NEAR(matrix[i * kSamples + j], want, tolerance(want)) << kernels_.Name(m);
        }
      }
    }
  }
}

TEST_P(BackEndTest, MeanDiagonalsAreThoseOfTheMatrices) {
  for (const std::string& normalizers : GetParam().normalizers) {
    y_.clear();
    Use(normalizers);
    std::vector<double> want(kernel_count(), 0.0);
    for (std::size_t m = 0; m < kernel_count(); ++m) {
      const std::vector<double> matrix = Matrix(*gram_->Learn(Unit(m)));
      for (Index i = 0; i < kSamples; ++i) want[m] += matrix[i * kSamples + i] / kSamples;
    }
    ExpectNear(gram_->MeanDiagonals(), want);
  }
}

// The kernels that this test can write down itself.
TEST_P(BackEndTest, KernelsAreWhatTheirNamesSay) {
  Use("none", {"linear", "rbf(gamma=0.7)"});
  const std::vector<double> linear = Matrix(*gram_->Learn(Unit(0)));
  const std::vector<double> gaussian = Matrix(*gram_->Learn(Unit(1)));
  std::vector<double> x(kFeatures), z(kFeatures);
  for (Index i = 0; i < kSamples; ++i) {
    CopyRow(views_[0].features, i, x);
    for (Index j = 0; j < kSamples; ++j) {
      CopyRow(views_[0].features, j, z);
      const double distance = Dot(x, x) + Dot(z, z) - 2 * Dot(x, z);
      ASSERT_NEAR(linear[i * kSamples + j], Dot(x, z), tolerance(1));
      ASSERT_NEAR(gaussian[i * kSamples + j], std::exp(-0.7 * distance), tolerance(1));
    }
  }
}

TEST_P(BackEndTest, LearnedMatricesAreValues) {
  Use("multiplicative");
  const std::vector<double> first = Draw(kernel_count(), 1), second = Draw(kernel_count(), 2);
  const std::shared_ptr<const LearnedMatrix> one = gram_->Learn(first);
  const std::vector<double> before = Matrix(*one);
  const std::shared_ptr<const LearnedMatrix> other = gram_->Learn(second);
  gram_->Answer({.a = Draw(kSamples, 3), .theta = second});
  const std::vector<double> of_other = Matrix(*other);
  EXPECT_EQ(Matrix(*one), before) << "another theta changes nothing";
  EXPECT_NE(of_other, before);
  EXPECT_TRUE(std::ranges::equal(one->theta(), first));
  EXPECT_EQ(gram_->Learn(second), other) << "asking again costs nothing";
}

TEST_P(BackEndTest, RowsAddUpAndBelongToTheDiagonal) {
  Use("multiplicative");
  const std::vector<double> theta = Draw(kernel_count(), 1);
  const std::shared_ptr<const LearnedMatrix> learned = gram_->Learn(theta);
  const std::vector<double> matrix = Matrix(*learned);
  std::vector<double> sum(matrix.size(), 0.0), diagonal(kSamples);
  for (std::size_t m = 0; m < kernel_count(); ++m) {
    const std::vector<double> part = Matrix(*gram_->Learn(Unit(m)));
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += theta[m] * part[k];
  }
  ExpectNear(matrix, sum);
  learned->Diagonal(diagonal);
  const std::vector<Index> rows = {7, 0, 44, 7};
  std::vector<float> some(rows.size() * (kSamples + 3), -1.0F);
  learned->Rows(rows, some.data(), kSamples + 3);
  for (Index i = 0; i < kSamples; ++i) {
    ASSERT_NEAR(diagonal[i] + learned->shift(), matrix[i * kSamples + i], tolerance(diagonal[i]));
    for (Index j = 0; j < kSamples; ++j)
      ASSERT_NEAR(matrix[i * kSamples + j], matrix[j * kSamples + i], tolerance(1));
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const float* row = some.data() + r * (kSamples + 3);
    for (Index j = 0; j < kSamples; ++j) {
      const double want = matrix[rows[r] * kSamples + j];
      ASSERT_NEAR(static_cast<double>(row[j]) + learned->shift(), want,
                  tolerance(want) + 1e-6 * (1 + std::abs(learned->shift())));
    }
    EXPECT_EQ(row[kSamples], -1.0F) << "nothing is written between rows";
  }
}

TEST_P(BackEndTest, AnswersFollowFromTheMatrices) {
  Use("multiplicative");
  std::vector<std::vector<double>> vectors = {Draw(kSamples, 1), Draw(kSamples, 2, 0.8),
                                              std::vector<double>(kSamples, 0.0)};
  for (double& value : vectors[0]) value -= 0.4;
  const std::vector<double> first = Draw(kernel_count(), 3), second = Draw(kernel_count(), 4, 0.7);
  const std::vector<VectorRequest> requests = {{.a = vectors[0], .theta = first},
                                               {.a = vectors[1], .theta = second, .wants_quadratics = false},
                                               {.a = vectors[1]},
                                               {.a = vectors[2], .theta = first},
                                               {.a = vectors[0], .theta = second, .keeps_expansion = true}};
  const std::vector<VectorAnswer> answers = gram_->AnswerAll(requests);
  ASSERT_EQ(answers.size(), requests.size());
  for (std::size_t v = 0; v < requests.size(); ++v) {
    const VectorRequest& request = requests[v];
    std::vector<double> quadratics, outputs;
    for (std::size_t m = 0; m < kernel_count() && request.wants_quadratics; ++m) {
      quadratics.push_back(Dot(request.a, Multiply(Matrix(*gram_->Learn(Unit(m))), request.a)));
    }
    if (!request.theta.empty()) outputs = Multiply(Matrix(*gram_->Learn(request.theta)), request.a);
    ExpectNear(answers[v].quadratics, quadratics);
    ExpectNear(answers[v].outputs, outputs);
    EXPECT_EQ(answers[v].expansion != nullptr, request.keeps_expansion);
    const VectorAnswer alone = gram_->Answer(request);
    ExpectNear(alone.quadratics, answers[v].quadratics);
    ExpectNear(alone.outputs, answers[v].outputs);
  }
}

TEST_P(BackEndTest, ExpansionsServeEveryThetaAndMove) {
  Use("multiplicative");
  const std::vector<double> a = Draw(kSamples, 1), b = Draw(kSamples, 2);
  const std::unique_ptr<MovableExpansion> expansion = gram_->Expand(a);
  for (const std::vector<double>& at : {a, b, std::vector<double>(kSamples, 0.0), a}) {
    expansion->MoveTo(at);
    std::vector<double> quadratics(kernel_count()), products(kernel_count()), outputs(kSamples);
    expansion->Quadratics(quadratics);
    ExpectNear(quadratics, gram_->Answer({.a = at}).quadratics);
    expansion->Products(b, products);
    for (const std::uint64_t seed : {5, 6}) {
      const std::vector<double> theta = Draw(kernel_count(), seed);
      expansion->Outputs(theta, outputs);
      ExpectNear(outputs, gram_->Answer({.a = at, .theta = theta, .wants_quadratics = false}).outputs);
      const double product = Dot(products, theta), want = Dot(outputs, b);
      EXPECT_NEAR(product, want, tolerance(want));
    }
  }
}

// The dual problem of a machine, and its solver: the one of the back end where there is one, else that on its
// rows.
struct Dual {
  Dual(std::span<const double> y, double C, double epsilon)
      : kink(epsilon > 0 ? y.size() : 0, epsilon), state{std::vector<double>(y.size(), 0.0), {}, false} {
    for (const double value : y) {
      linear.push_back(-value);
      lower.push_back(epsilon > 0 || value < 0 ? -C : 0);
      upper.push_back(epsilon > 0 || value > 0 ? C : 0);
    }
  }
  DualProblem problem() const { return {linear, lower, upper, kink}; }
  std::vector<double> linear, lower, upper, kink;
  SolverState state;
};

class Counter final : public SolveObserver {
 public:
  Verdict Observe(SolverPause& pause) override {
    EXPECT_GE(pause.steps(), last_);
    last_ = pause.steps();
    ++looks;
    gradients_.emplace_back(pause.Gradient().begin(), pause.Gradient().end());
    betas_.emplace_back(pause.Beta().begin(), pause.Beta().end());
    return Verdict::kContinue;
  }
  int looks = 0;
  std::int64_t last_ = 0;
  std::vector<std::vector<double>> betas_, gradients_;
};

TEST_P(BackEndTest, AdvancesToTheOptimumInBatchesOfAnySize) {
  Use("multiplicative");
  const std::vector<double> theta = Draw(kernel_count(), 1);
  for (const double epsilon : {0.0, 0.1}) {
    double objective = 0;
    for (const std::int64_t batch : {1, 7, 1000000}) {
      Dual dual(y_, 2, epsilon);
      const DualProblem problem = dual.problem();
      GramRows<double> rows(*gram_, theta);
      Counter counter;
      const SolverOptions options{.tolerance = 1e-4, .observe_every = batch};
      EXPECT_EQ(rows.MakeSolver(problem, options) != nullptr, GetParam().has_solver);
      const SolverResult result =
          SolveDual<double>(SolverKind::kAuto, problem, rows, dual.state, options, &counter);
      ASSERT_EQ(result.outcome, SolverOutcome::kConverged);
      EXPECT_LE(result.violation, options.tolerance);
      EXPECT_EQ(counter.looks > 0, batch < 1000000);
      ASSERT_TRUE(dual.state.gradient_is_valid);
      // The gradient that was returned is that of beta, up to a constant; so were those that the observer
      // saw.
      counter.betas_.push_back(dual.state.beta);
      counter.gradients_.push_back(dual.state.gradient);
      for (std::size_t k = 0; k < counter.betas_.size(); k += 1 + counter.betas_.size() / 5) {
        const std::vector<double> outputs = gram_->Answer({.a = counter.betas_[k], .theta = theta}).outputs;
        const double constant = counter.gradients_[k][0] - outputs[0] - problem.linear[0];
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          ASSERT_NEAR(counter.gradients_[k][i] - outputs[i] - problem.linear[i], constant, tolerance(100));
        }
      }
      EXPECT_NEAR(std::accumulate(dual.state.beta.begin(), dual.state.beta.end(), 0.0), 0, 1e-9);
      EXPECT_LE(Violation(problem, dual.state), options.tolerance);
      if (objective != 0) {
        EXPECT_NEAR(result.objective, objective, 1e-4 * std::abs(objective));
      }
      objective = result.objective;
    }
  }
}

// Theta moves inside a solve.
class Mover final : public SolveObserver {
 public:
  Mover(Gram& gram, std::vector<double>& theta, std::vector<double> next, const DualProblem& problem)
      : gram_(gram), theta_(theta), next_(std::move(next)), problem_(problem) {}
  Verdict Observe(SolverPause& pause) override {
    if (theta_ == next_) return Verdict::kContinue;
    theta_ = next_;
    const std::vector<double> beta(pause.Beta().begin(), pause.Beta().end());
    const std::vector<double> outputs = gram_.Answer({.a = beta, .theta = theta_}).outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) pause.Gradient()[i] = outputs[i] + problem_.linear[i];
    return Verdict::kMatrixChanged;
  }

 private:
  Gram& gram_;
  std::vector<double>& theta_;
  const std::vector<double> next_;
  const DualProblem& problem_;
};

TEST_P(BackEndTest, GoesOnAtAnotherMatrix) {
  Use("multiplicative");
  const std::vector<double> end = Draw(kernel_count(), 2);
  std::vector<double> theta = Draw(kernel_count(), 1), fixed = end;
  Dual moved(y_, 2, 0), direct(y_, 2, 0);
  const DualProblem problem = moved.problem();
  GramRows<double> moving_rows(*gram_, theta), rows(*gram_, fixed);
  Mover mover(*gram_, theta, end, problem);
  const SolverResult after = SolveDual<double>(SolverKind::kAuto, problem, moving_rows, moved.state,
                                               {.tolerance = 1e-4, .observe_every = 5}, &mover);
  const SolverResult want = SolveDual<double>(SolverKind::kAuto, direct.problem(), rows, direct.state,
                                              {.tolerance = 1e-4}, nullptr);
  EXPECT_EQ(theta, end);
  EXPECT_EQ(after.outcome, SolverOutcome::kConverged);
  EXPECT_NEAR(after.objective, want.objective, 1e-4 * std::abs(want.objective));
}

// End to end: weights and machine are learned on the back end and certified by it, and the certificate holds
// for the kernels as others evaluate them.
TEST_P(BackEndTest, LearnsToACertifiedGap) {
  Use("multiplicative");
  const auto exact = MakeCpu(kernels_, views_, normalization_, pool_, false);
  const Context context;
  const std::vector<double> costs(kSamples, 1.0);
  const HingeLoss hinge;
  const EpsilonInsensitiveLoss insensitive(0.1);
  for (const Loss* loss : {static_cast<const Loss*>(&hinge), static_cast<const Loss*>(&insensitive)}) {
    for (const double p : {1.0, 4.0 / 3, 2.0}) {
      for (const DriverKind driver : {DriverKind::kWrapper, DriverKind::kInterleaved}) {
        const LearningProblem problem{{loss, y_, costs}, std::make_shared<LpNorm>(p)};
        GramPair pair{gram_.get(), GetParam().is_float,
                      [&]() -> Gram& { return GetParam().is_float ? *exact : *gram_; }};
        LearnOptions options;
        options.driver = driver;
        RunControl control(context);
        const Learned learned = LearnWeights(pair, problem, options, control);
        EXPECT_EQ(learned.status, Status::kConverged) << p << ' ' << ToString(driver);
        const Certificate again =
            Certify(*exact, problem.risk, *problem.regularizer, learned.theta, learned.beta,
                    learned.dual_beta.empty() ? learned.beta : learned.dual_beta);
        EXPECT_LE(again.relative_gap, 1.01 * options.target_gap);
        EXPECT_NEAR(again.primal, learned.certificate.primal, 1e-6 * again.primal);
        EXPECT_NEAR(again.dual, learned.certificate.dual, 1e-6 * again.dual);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BackEndTest, ::testing::ValuesIn(BackEnds()),
                         [](const auto& back_end) { return back_end.param.name; });

}  // namespace
}  // namespace kweave
