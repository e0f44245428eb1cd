#include "weights/run/learn_parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "gram/product_gram.h"
#include "kernel/language.h"
#include "kweave/error.h"
#include "loss/hinge.h"
#include "regularizer/entropy.h"
#include "regularizer/lp_norm.h"

namespace kweave {
namespace {

constexpr Index kSamples = 120;

// Two classes that the first two features tell apart, by a circle.
struct Circle {
  explicit Circle(Index features = 6, std::uint64_t seed = 1) {
    Random random(seed);
    std::vector<double> x(static_cast<std::size_t>(kSamples * features));
    for (double& value : x) value = 2 * random.Uniform() - 1;
    for (Index i = 0; i < kSamples; ++i) {
      const double* row = x.data() + i * features;
      y.push_back(row[0] * row[0] + row[1] * row[1] < 0.6 ? 1 : -1);
    }
    views = {{"data", MakeDense(x, kSamples, features), {}}};
    C.assign(kSamples, 10.0);
    kernels = ParseKernels(std::vector<std::string>{"each(rbf(gamma=4))"}, views, 0);
  }

  Learned Learn(double norm, const std::string& method, int restarts = 1, bool use_float = false) {
    return Learn(std::make_shared<LpNorm>(norm), method, restarts, use_float);
  }
  Learned Learn(const RegularizerPointer& regularizer, const std::string& method, int restarts = 1,
                bool use_float = false) {
    const std::unique_ptr<Gram> working = MakeProductGram(kernels, views, use_float, pool);
    const std::unique_ptr<Gram> exact = MakeProductGram(kernels, views, false, pool);
    const ParametricPair pair{working.get(), use_float, [&]() -> Gram& { return *exact; }};
    const LearningProblem problem{{&loss, y, C}, regularizer};
    LearnOptions options;
    options.method = method;
    options.target_gap = 1e-3;
    RunControl control(context);
    return LearnParameters(pair, problem, options, {.restarts = restarts, .seed = 3}, control);
  }

  HingeLoss loss;
  Context context;
  ThreadPool pool{1};
  std::vector<View> views;
  std::vector<double> y, C;
  KernelSet kernels;
};

TEST(LearnParameters, FindsTheFeaturesThatMatter) {
  for (const double norm : {1.0, 1.33}) {
    for (const bool use_float : {false, true}) {
      const Learned learned = Circle().Learn(norm, "auto", 1, use_float);
      EXPECT_EQ(learned.status, Status::kConverged);
      EXPECT_LE(*learned.projected_gradient, 1e-3);
      EXPECT_LE(learned.certificate.relative_gap, 1e-3);
      EXPECT_EQ(learned.method, "projected-quasi-newton");
      const double irrelevant = *std::max_element(learned.theta.begin() + 2, learned.theta.end());
      EXPECT_GT(std::min(learned.theta[0], learned.theta[1]), 3 * irrelevant) << norm;
    }
  }
}

TEST(LearnParameters, EveryPartCanBeSwitchedOffAndAllMeet) {
  const double best = Circle().Learn(1.33, "spg", 5).certificate.primal;
  for (const char* method : {"spg", "spg-max", "pgd", "pgd+n", "pgd+s", "pgd+n+s"}) {
    const Learned learned = Circle().Learn(1.33, method);
    EXPECT_LE(learned.certificate.primal, best * 1.01) << method;
    EXPECT_EQ(learned.method, method);
  }
}

// Gradients and one curvature alone took ten times as many solves, or stalled. What one problem takes depends
// on rounding (200 to 390 solves of these with the entropy), so that the mean counts.
TEST(LearnParameters, ManyFeaturesDoNotStall) {
  for (const RegularizerPointer& regularizer :
       {LpConstraint(2), RegularizerPointer(std::make_shared<EntropyPenalty>(1))}) {
    std::int64_t solves = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Learned learned = Circle(60, seed).Learn(regularizer, "auto");
      EXPECT_EQ(learned.status, Status::kConverged) << regularizer->Name();
      solves += learned.solves;
    }
    EXPECT_LE(solves / 5, 400) << regularizer->Name();
  }
}

TEST(LearnParameters, MoreStartsAreNeverWorse) {
  const double once = Circle().Learn(1, "spg", 1).certificate.primal;
  EXPECT_LE(Circle().Learn(1, "spg", 4).certificate.primal, once * (1 + 1e-9));
}

TEST(LearnParameters, RefusesMethodsForSums) { EXPECT_THROW(Circle().Learn(1, "silp"), Error); }

}  // namespace
}  // namespace kweave
