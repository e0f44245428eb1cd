#include "train/grams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernel/language.h"
#include "loss/hinge.h"
#include "regularizer/lp_norm.h"
#include "weights/strategies/sample_screening.h"

namespace kweave {
namespace {

struct MadeProblem {
  explicit MadeProblem(Index samples) : pool(2) {
    Random random(3);
    std::vector<double> values(samples * kFeatures);
    for (double& value : values) value = 2 * random.Uniform() - 1;
    for (Index i = 0; i < samples; ++i) {
      const double margin = std::sin(4 * values[i * kFeatures]) + values[i * kFeatures + 1];
      y.push_back(margin + 0.4 * random.Uniform() - 0.2 > 0 ? 1 : -1);
    }
    C.assign(samples, 1.0);
    const auto owner = std::make_shared<const std::vector<double>>(std::move(values));
    views.push_back({"data", DenseRows<double>{owner->data(), samples, kFeatures, kFeatures, owner}, {}});
    const std::vector<std::string> specifications = {"rbf(gamma=[0.1,1,3,10])", "linear",
                                                     "each(rbf(gamma=2))"};
    kernels = ParseKernels(specifications, views, 0);
    normalization = FitNormalization(kernels, views, ParseNormalizers("multiplicative"), pool);
  }

  void UseKernels(const std::string& specification) {
    kernels = ParseKernels(std::vector<std::string>{specification}, views, 0);
    normalization = FitNormalization(kernels, views, ParseNormalizers("multiplicative"), pool);
  }

  Grams MakeGrams() {
    return Grams({&kernels, views, normalization}, {true, 0, FamilyEvaluation::kAuto, true}, pool);
  }

  static constexpr Index kFeatures = 4;
  ThreadPool pool;
  std::vector<double> y, C;
  std::vector<View> views;
  KernelSet kernels;
  Normalization normalization;
};

TEST(Grams, APartHasTheValuesOfTheWhole) {
  MadeProblem problem(300);
  Grams grams = problem.MakeGrams();
  const std::vector<Index> chosen = {3, 50, 51, 120, 299};
  const std::shared_ptr<GramSample> part = grams.Pair().sample(chosen);
  const std::vector<double> theta(problem.kernels.size(), 0.3);
  Gram& whole = *grams.Pair().working;
  Gram& small = *part->Pair().working;
  std::vector<float> large_rows(chosen.size() * 300), small_rows(chosen.size() * chosen.size());
  const std::vector<Index> all = {0, 1, 2, 3, 4};
  whole.Learn(theta)->Rows(chosen, large_rows.data(), 300);
  small.Learn(theta)->Rows(all, small_rows.data(), static_cast<Index>(chosen.size()));
  // Linear kernels are centred on other means, which shifts rows and columns; what is left of the rest must
  // agree.
  const auto contrast = [&](const auto& value) {
    return value(0, 1) - value(0, 2) - value(4, 1) + value(4, 2);
  };
  const double large =
      contrast([&](std::size_t r, std::size_t c) { return large_rows[r * 300 + chosen[c]]; });
  const double few =
      contrast([&](std::size_t r, std::size_t c) { return small_rows[r * chosen.size() + c]; });
  EXPECT_NEAR(few, large, 1e-5);
}

TEST(Grams, SomeKernelsAreTheSameKernels) {
  MadeProblem problem(60);
  Grams grams = problem.MakeGrams();
  const std::vector<Index> chosen = {1, 3, 4, 7};
  std::vector<double> a(60), all(problem.kernels.size()), some(chosen.size());
  Random random(5);
  for (double& value : a) value = random.Uniform() - 0.5;
  grams.Precise().Expand(a)->Quadratics(all);
  const std::shared_ptr<GramSample> few = grams.Pair().some_kernels(chosen);
  few->Pair().exact().Expand(a)->Quadratics(some);
  for (std::size_t k = 0; k < chosen.size(); ++k)
    EXPECT_NEAR(some[k], all[chosen[k]], 1e-9 * std::abs(some[k]));
}

// Neighbouring widths are all but the same kernel.
TEST(Grams, SecondOrderStepsAreFewWithKernelsThatAreAlike) {
  MadeProblem problem(60);
  problem.UseKernels("each(rbf(gamma=logspace(1e-3,1e3,100)))");
  problem.C.assign(60, 10.0);
  const HingeLoss hinge;
  const LearningProblem learning{{&hinge, problem.y, problem.C}, LpConstraint(1)};
  const Context context;
  double primal[2];
  for (const bool is_newton : {false, true}) {
    RunControl control(context);
    Grams grams = problem.MakeGrams();
    LearnOptions options;
    options.target_gap = 1e-4;
    options.method = is_newton ? "newton" : "level";
    const Learned learned = LearnWeights(grams.Pair(), learning, options, control);
    EXPECT_EQ(learned.status, Status::kConverged) << options.method;
    if (is_newton) {
      EXPECT_LE(learned.solves, 20);
      EXPECT_EQ(learned.history.back().fallbacks, 0);
    }
    primal[is_newton] = learned.certificate.primal;
  }
  EXPECT_NEAR(primal[1], primal[0], 2e-4 * primal[0]);
}

// Sparse weights of many kernels are learned on few of them, but bounded over all.
TEST(Grams, VeryManyKernelsMeetTheSameOptimum) {
  MadeProblem problem(60);
  problem.UseKernels("each(rbf(gamma=logspace(1e-2,1e2,1200)))");
  const HingeLoss hinge;
  const LearningProblem learning{{&hinge, problem.y, problem.C}, LpConstraint(1)};
  const Context context;
  Learned found[2];
  for (const bool is_direct : {false, true}) {
    RunControl control(context);
    Grams grams({&problem.kernels, problem.views, problem.normalization},
                {true, 0, is_direct ? FamilyEvaluation::kDirect : FamilyEvaluation::kAuto, true},
                problem.pool);
    LearnOptions options;
    options.target_gap = 1e-4;
    options.method = is_direct ? "auto" : "analytic+newton";
    found[is_direct] = LearnWeights(grams.Pair(), learning, options, control);
    EXPECT_EQ(found[is_direct].status, Status::kConverged);
    EXPECT_LE(found[is_direct].certificate.relative_gap, 1e-4);
    EXPECT_EQ(found[is_direct].theta.size(), 4800u);
  }
  EXPECT_NEAR(found[1].certificate.primal, found[0].certificate.primal, 2e-4 * found[0].certificate.primal);
  EXPECT_LT(std::ranges::count_if(found[1].theta, [](double t) { return t > 0; }), 60);
}

TEST(Grams, StartingFromASampleLeavesTheOptimumWhereItIs) {
  MadeProblem problem(4200);
  const HingeLoss hinge;
  const Context context;
  for (const double norm : {1.0, 2.0}) {
    RunControl control(context);
    Grams grams = problem.MakeGrams();
    GramPair pair = grams.Pair();
    LearnOptions options;
    options.target_gap = 1e-4;
    const LearningProblem learning{{&hinge, problem.y, problem.C}, LpConstraint(norm)};
    const Learned sampled = LearnWeights(pair, learning, options, control);
    pair.sample = nullptr;
    const Learned plain = LearnWeights(pair, learning, options, control);
    EXPECT_EQ(sampled.status, Status::kConverged);
    EXPECT_NEAR(sampled.certificate.primal, plain.certificate.primal, 2e-4 * plain.certificate.primal);
    EXPECT_LT(sampled.history.front().relative_gap, plain.history.front().relative_gap);
  }
}

TEST(Grams, DrawsTheSamplesToStartFromByTheSeed) {
  MadeProblem problem(4200);
  const HingeLoss hinge;
  const auto drawn = [&](std::uint64_t seed) {
    Context context;
    context.seed = seed;
    RunControl control(context);
    Grams grams = problem.MakeGrams();
    GramPair pair = grams.Pair();
    std::vector<Index> rows;
    pair.sample = [&, sample = pair.sample](std::span<const Index> some) {
      if (rows.empty()) rows.assign(some.begin(), some.end());
      return sample(some);
    };
    LearnOptions options;
    options.target_gap = 0.01;
    LearnWeights(pair, {{&hinge, problem.y, problem.C}, LpConstraint(2)}, options, control);
    return rows;
  };
  EXPECT_FALSE(drawn(1).empty());
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

// One side is rare, so most samples of the other are far from it.
TEST(Grams, LeavingOutSamplesLeavesTheOptimumWhereItIs) {
  MadeProblem problem(4200);
  const auto& data = std::get<DenseRows<double>>(problem.views[0].features);
  for (Index i = 0; i < 4200; ++i) {
    const double* x = data.data + i * MadeProblem::kFeatures;
    problem.y[i] = std::hypot(x[0] - 0.5, x[1], x[2]) < 0.45 ? 1 : -1;
  }
  problem.UseKernels("rbf(gamma=[0.1,0.3,1,3,10,30])");
  const HingeLoss hinge;
  const Context context;
  RunControl control(context);
  Grams grams = problem.MakeGrams();
  LearnOptions options;
  options.target_gap = 1e-3;
  const LearningProblem learning{{&hinge, problem.y, problem.C}, LpConstraint(2)};
  const Learned all = LearnWeights(grams.Pair(), learning, options, control);
  const Learned sifted = LearnScreened(grams.Pair(), learning, options, control);
  EXPECT_EQ(sifted.status, Status::kConverged);
  EXPECT_LE(sifted.certificate.relative_gap, 1e-3);
  EXPECT_NEAR(sifted.certificate.primal, all.certificate.primal, 1e-3 * all.certificate.primal);

  // A machine without a certificate yet: half of the samples that count are missing from it.
  WarmStart start{sifted.theta, sifted.beta};
  for (std::size_t i = 0; i < start.beta.size(); i += 2) start.beta[i] = 0;
  learning.risk.MakeFeasible(start.beta);
  start.outputs =
      Certify(grams.Exact(), learning.risk, *learning.regularizer, start.theta, start.beta, start.beta)
          .outputs;
  options.start = &start;
  const Learned resumed = LearnScreened(grams.Pair(), learning, options, control);
  EXPECT_EQ(resumed.status, Status::kConverged);
  EXPECT_LE(resumed.certificate.relative_gap, 1e-3);
  EXPECT_NEAR(resumed.certificate.primal, all.certificate.primal, 1e-3 * all.certificate.primal);
}

}  // namespace
}  // namespace kweave
