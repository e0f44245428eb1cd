#include "weights/run/learn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/constants.h"
#include "base/random.h"
#include "kweave/error.h"
#include "regularizer/bounded_norm.h"
#include "regularizer/lp_norm.h"
#include "regularizer/lp_penalty.h"
#include "tests/support/learn_reference.h"
#include "weights/methods/method_table.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::Learn;
using testing::MatrixGram;
using testing::ReferenceProblem;
using testing::WithMethod;

TEST(LearnWeights, OneKernelIsThePlainMachine) {
  ReferenceProblem problem = FindReferenceProblem("two_widths");
  problem.matrices.resize(1);
  const double plain = Learn(problem, kInfinity, WithMethod("uniform", 1e-8)).certificate.primal;
  for (const double norm : {1.0, 1.1, 2.0, 100.0, kInfinity}) {
    for (const std::string method : {"auto", "analytic"}) {
      const Learned learned = Learn(problem, norm, WithMethod(method, 1e-8));
      EXPECT_EQ(learned.status, Status::kConverged);
      EXPECT_NEAR(learned.theta[0], 1, 1e-12);
      EXPECT_NEAR(learned.certificate.primal, plain, 1e-7 * plain);
    }
  }
}

TEST(LearnWeights, DuplicatedKernelsShareTheWeight) {
  const ReferenceProblem& problem =
      FindReferenceProblem("duplicates_6");  // kernels 0, 1, 2 are one kernel, 3 and 4 another
  for (const double norm : {1.01, 1.1, 2.0, 4.0}) {
    const Learned learned = Learn(problem, norm, WithMethod("auto", 1e-8));
    EXPECT_NEAR(learned.theta[0], learned.theta[1], 1e-3) << norm;
    EXPECT_NEAR(learned.theta[0], learned.theta[2], 1e-3) << norm;
    EXPECT_NEAR(learned.theta[3], learned.theta[4], 1e-3) << norm;
  }
}

TEST(LearnWeights, NormCloseToOneMeetsNormOne) {
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  const double at_one = Learn(problem, 1, WithMethod("level", 1e-7)).certificate.primal;
  const double close = Learn(problem, 1 + 1e-8, WithMethod("analytic+newton", 1e-6)).certificate.primal;
  EXPECT_NEAR(close, at_one, 2e-6 * at_one);
}

// One Gaussian per feature, of which few matter. With a small C most samples sit at a bound and J bends only
// where one of them leaves it.
ReferenceProblem ManyFeatures(double C) {
  constexpr std::size_t kSamples = 200;
  constexpr std::size_t kFeatures = 60;
  Random random(9);
  std::vector<double> x(kSamples * kFeatures);
  for (double& value : x) value = random.Uniform() + random.Uniform() + random.Uniform() - 1.5;
  ReferenceProblem problem;
  for (std::size_t i = 0; i < kSamples; ++i) {
    double score = random.Uniform() - 0.5;
    for (std::size_t k = 0; k < 10; ++k) score += x[i * kFeatures + k] / static_cast<double>(k + 1);
    problem.y.push_back(score > 0 ? 1 : -1);
  }
  problem.upper.assign(kSamples, C);
  for (std::size_t k = 0; k < kFeatures; ++k) {
    std::vector<double>& matrix = problem.matrices.emplace_back();
    for (std::size_t i = 0; i < kSamples; ++i) {
      for (std::size_t j = 0; j < kSamples; ++j) {
        const double difference = x[i * kFeatures + k] - x[j * kFeatures + k];
        matrix.push_back(4 * std::exp(-2 * difference * difference));
      }
    }
  }
  return problem;
}

TEST(LearnWeights, SmallCostsDoNotStall) {
  for (const double C : {0.02, 0.1}) {
    const ReferenceProblem problem = ManyFeatures(C);
    for (const double norm : {1.0, 1.001}) {
      const Learned learned = Learn(problem, norm, WithMethod("analytic+newton", 1e-6));
      EXPECT_EQ(learned.status, Status::kConverged) << "C " << C << " norm " << norm;
      EXPECT_LE(learned.solves, 30) << "C " << C << " norm " << norm;
      if (norm == 1) {
        EXPECT_GT(std::count(learned.theta.begin(), learned.theta.end(), 0.0), 10) << "C " << C;
      }
    }
  }
}

// Kloft et al. (2011), theorem 1, both ways.
TEST(LearnWeights, PenaltyAndConstraintHaveTheSameSolutions) {
  const ReferenceProblem& problem = FindReferenceProblem("each_8_sample_costs");
  const Risk risk = HingeRisk(problem);
  for (const double p : {1.0, 4.0 / 3, 2.0, 4.0}) {
    const LpNorm norm(p);
    const double mu = 0.8;
    const Learned penalized =
        Learn(problem.matrices, risk, std::make_shared<LpPenalty>(mu, p), WithMethod("auto", 1e-7));
    // With C ||theta|| in place of C the constraint finds theta / ||theta||.
    const double length = norm.Norm(penalized.theta);
    ReferenceProblem scaled = problem;
    for (double& C : scaled.upper) C *= length;
    const Learned constrained = Learn(scaled, p, WithMethod("auto", 1e-8));
    for (std::size_t m = 0; m < penalized.theta.size(); ++m) {
      EXPECT_NEAR(penalized.theta[m] / length, constrained.theta[m], 5e-3) << p;
    }
    // At the same C the penalty that half the conjugate norm of q sets finds weights of norm one, the same.
    const Learned first = Learn(problem, p, WithMethod("auto", 1e-8));
    const double back = 0.5 * norm.Dual(first.certificate.quadratics);
    const Learned again =
        Learn(problem.matrices, risk, std::make_shared<LpPenalty>(back, p), WithMethod("auto", 1e-7));
    const double expected = first.certificate.primal + (p == 1 ? back : 0.5 * back);
    EXPECT_NEAR(again.certificate.primal, expected, 1e-6 * expected) << p;
    if (p > 1) {
      EXPECT_NEAR(norm.Norm(again.theta), 1, 1e-3) << p;
    }
  }
}

// Upper bounds, lower ones too, upper ones that leave weight unspent, and bounds on some.
TEST(LearnWeights, MethodsMeetWithinBounds) {
  for (const std::string name : {"mixed_10_large_c", "each_8_sample_costs"}) {
    const ReferenceProblem& problem = FindReferenceProblem(name);
    const Risk risk = HingeRisk(problem);
    const std::size_t M = problem.matrices.size();
    const auto all = [M](double value) { return std::vector<double>(M, value); };
    const double share = 1 / static_cast<double>(M);
    std::vector<double> some_lower = all(0), some_upper = all(kInfinity);
    some_lower[0] = some_upper[0] = 0.1;
    some_lower[1] = 0.3;
    some_upper[2] = 0.05;
    const std::vector<std::pair<std::vector<double>, std::vector<double>>> bounds = {
        {all(0), all(2 * share)},
        {all(0.2 * share), all(3 * share)},
        {all(0.1 * share), all(0.8 * share)},
        {all(share), all(2 * share)},
        {all(0), all(kInfinity)},
        {some_lower, some_upper}};
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      const auto& [lower, upper] = bounds[k];
      const auto norm = std::make_shared<BoundedNorm>(1, lower, upper);
      const Learned best = Learn(problem.matrices, risk, norm, WithMethod("auto", 1e-8));
      EXPECT_EQ(best.method, "level");
      EXPECT_EQ(best.status, Status::kConverged);
      for (const std::string method : {"cutting-plane", "level", "projected-quasi-newton", "silp", "spg"}) {
        SCOPED_TRACE(name + ", " + method + ", bounds " + std::to_string(k));
        const double gap = FindMethod(method, *norm, *risk.loss).is_baseline ? 1e-3 : 1e-6;
        const Learned learned = Learn(problem.matrices, risk, norm, WithMethod(method, gap));
        EXPECT_EQ(learned.status, Status::kConverged);
        EXPECT_NEAR(learned.certificate.primal, best.certificate.primal,
                    1.01 * gap * best.certificate.primal);
        double sum = 0;
        for (std::size_t m = 0; m < M; ++m) {
          EXPECT_GE(learned.theta[m], lower[m]);
          EXPECT_LE(learned.theta[m], upper[m]);
          sum += learned.theta[m];
        }
        EXPECT_LE(sum, 1 + 1e-12);
      }
    }
  }
}

// From weights much too small to much too large: where they have a price nothing else bounds them.
TEST(LearnWeights, MethodsMeetWhateverWeightCosts) {
  const ReferenceProblem& problem = FindReferenceProblem("each_8_sample_costs");
  const Risk risk = HingeRisk(problem);
  for (const double mu : {1e-2, 1.0, 30.0}) {
    const auto penalty = std::make_shared<LpPenalty>(mu, 1);
    const Learned level = Learn(problem.matrices, risk, penalty, WithMethod("level", 1e-6));
    EXPECT_EQ(level.status, Status::kConverged) << mu;
    for (const std::string method : {"silp", "projected-quasi-newton"}) {
      const double gap = method == "silp" ? 1e-3 : 1e-6;
      const Learned learned = Learn(problem.matrices, risk, penalty, WithMethod(method, gap));
      EXPECT_EQ(learned.status, Status::kConverged) << method << mu;
      EXPECT_NEAR(learned.certificate.primal, level.certificate.primal, 2 * gap * level.certificate.primal)
          << method << mu;
    }
  }
}

TEST(LearnWeights, LargeNormMeetsTheUniformSum) {
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  const double uniform = Learn(problem, kInfinity, WithMethod("auto", 1e-7)).certificate.primal;
  const double large = Learn(problem, 1e6, WithMethod("auto", 1e-7)).certificate.primal;
  EXPECT_NEAR(large, uniform, 1e-5 * uniform);
}

TEST(LearnWeights, OrderOfSamplesDoesNotMatter) {
  const ReferenceProblem& problem = FindReferenceProblem("each_8_sample_costs");
  const std::size_t n = problem.y.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(5);
  for (std::size_t i = n - 1; i > 0; --i) {
    std::swap(order[i], order[static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(i) + 1))]);
  }
  ReferenceProblem shuffled = problem;
  for (std::size_t i = 0; i < n; ++i) {
    shuffled.y[i] = problem.y[order[i]];
    shuffled.upper[i] = problem.upper[order[i]];
    for (std::size_t m = 0; m < problem.matrices.size(); ++m) {
      for (std::size_t j = 0; j < n; ++j) {
        shuffled.matrices[m][i * n + j] = problem.matrices[m][order[i] * n + order[j]];
      }
    }
  }
  for (const double norm : {1.0, 1.1, 2.0}) {
    const double first = Learn(problem, norm, WithMethod("auto", 1e-7)).certificate.primal;
    const double second = Learn(shuffled, norm, WithMethod("auto", 1e-7)).certificate.primal;
    EXPECT_NEAR(first, second, 2e-7 * first);
  }
}

TEST(LearnWeights, KernelsThatCannotHelpGetNoWeight) {
  ReferenceProblem problem = FindReferenceProblem("two_widths");
  const std::size_t n = problem.y.size();
  std::vector<double> indefinite(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) indefinite[i * n + i] = -1;
  problem.matrices.push_back(std::vector<double>(n * n, 0.0));
  problem.matrices.push_back(indefinite);
  problem.matrices.push_back(std::vector<double>(n * n, 1.0));  // a constant: q = 0 because sum beta = 0
  for (const double norm : {1.0, 1.1, 2.0, kInfinity}) {
    const Learned learned = Learn(problem, norm, WithMethod("auto", 1e-6));
    EXPECT_EQ(learned.status, Status::kConverged) << norm;
    EXPECT_EQ(learned.theta[3], 0) << norm;
    if (norm <= 2) {
      EXPECT_LE(learned.theta[2] + learned.theta[4], 1e-3) << norm;
    }
  }
}

TEST(LearnWeights, NothingButZeroKernelsGivesTheBiasModel) {
  ReferenceProblem problem = FindReferenceProblem("two_widths");
  for (std::vector<double>& matrix : problem.matrices) std::fill(matrix.begin(), matrix.end(), 0.0);
  for (const double norm : {1.0, 2.0, kInfinity}) {
    const Learned learned = Learn(problem, norm);
    EXPECT_EQ(learned.status, Status::kConverged) << norm;
    EXPECT_NEAR(learned.certificate.primal, 100, 1e-6);  // all samples of one class, C = 1
  }
}

TEST(LearnWeights, KernelsOnlyIndefiniteSurvive) {
  ReferenceProblem problem = FindReferenceProblem("two_widths");
  for (std::vector<double>& matrix : problem.matrices) {
    for (double& value : matrix) value = -value;
  }
  for (const double norm : {1.0, 2.0, kInfinity}) {
    const Learned learned = Learn(problem, norm);
    for (const double weight : learned.theta) EXPECT_TRUE(std::isfinite(weight));
  }
}

TEST(LearnWeights, KernelsWithBadValuesClaimNothing) {
  ReferenceProblem problem = FindReferenceProblem("two_widths");
  problem.matrices[0][5] = std::nan("");
  const Learned learned = Learn(problem, 2);
  EXPECT_EQ(learned.status, Status::kStalled);
  EXPECT_GE(learned.certificate.relative_gap, 1);
}

TEST(LearnWeights, StopsWhenAskedAndSaysHowGoodTheAnswerIs) {
  const ReferenceProblem& problem = FindReferenceProblem("mixed_60");
  Context context;
  context.stop_requested = [] { return true; };
  const Learned interrupted = Learn(problem, 1, WithMethod("auto", 1e-9), context);
  EXPECT_EQ(interrupted.status, Status::kInterrupted);
  EXPECT_TRUE(std::isfinite(interrupted.certificate.gap));
  Context hurried;
  hurried.time_limit_seconds = 1e-9;
  const Learned late = Learn(problem, 1, WithMethod("silp", 1e-9), hurried);
  EXPECT_EQ(late.status, Status::kTimeLimit);
  EXPECT_TRUE(std::isfinite(late.certificate.gap));
}

TEST(LearnWeights, IterationLimitAndHistory) {
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  LearnOptions options = WithMethod("silp", 1e-9);
  options.max_iterations = 3;
  const Learned learned = Learn(problem, 1, options);
  EXPECT_EQ(learned.status, Status::kIterationLimit);
  EXPECT_EQ(learned.iterations, 3);
  ASSERT_EQ(learned.history.size(), 4u);  // one per theta, the first included
  for (std::size_t k = 1; k < learned.history.size(); ++k) {
    EXPECT_LE(learned.history[k].primal, learned.history[k - 1].primal);
    EXPECT_GE(learned.history[k].dual, learned.history[k - 1].dual);
    EXPECT_GT(learned.history[k].solves, learned.history[k - 1].solves);
  }
  EXPECT_EQ(learned.history.back().solves, learned.solves);
}

TEST(LearnWeights, GapBeyondThePrecisionOfTheKernelsIsNotClaimed) {
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  const Learned learned = Learn(problem, 2, WithMethod("auto", 1e-17));
  EXPECT_EQ(learned.status, Status::kStalled);
  EXPECT_LT(learned.certificate.relative_gap, 1e-9);
}

TEST(LearnWeights, TurnsToTheExactKernelsWhenTheWorkingOnesAreTooCoarse) {
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  for (const double norm : {1.0, 2.0, kInfinity}) {
    MatrixGram coarse(problem.matrices), exact(problem.matrices);
    coarse.PlantErrors(1e-3, 0);
    const Context context;
    RunControl control(context);
    const Learned learned =
        LearnWeights({&coarse, true, [&]() -> Gram& { return exact; }},
                     {HingeRisk(problem), LpConstraint(norm)}, WithMethod("auto", 1e-6), control);
    EXPECT_EQ(learned.status, Status::kConverged) << norm;
    EXPECT_LE(learned.certificate.relative_gap, 1e-6) << norm;
  }
}

TEST(LearnWeights, AMethodThatDoesNotServeTheNormNamesThoseThatDo) {
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  const auto message = [&](const std::string& method, double norm) -> std::string {
    try {
      Learn(problem, norm, WithMethod(method, 1e-3));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("silp", 2), ::testing::HasSubstr("analytic"));
  EXPECT_THAT(message("uniform", 1), ::testing::HasSubstr("silp"));
  EXPECT_THAT(message("lbfgs", 2), ::testing::HasSubstr("norm 2 with this loss; these do: auto, analytic"));
  EXPECT_THAT(message("magic", 1), ::testing::HasSubstr("level, newton, pgd"));
  EXPECT_THAT(message("auto", 0.5), ::testing::HasSubstr("1 to inf"));
}

}  // namespace
}  // namespace kweave
