#include "weights/methods/level.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/run_control.h"
#include "tests/support/learn_reference.h"
#include "weights/run/sample_machine.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::HingeRisk;
using testing::Learn;
using testing::MatrixGram;
using testing::ReferenceOptimum;
using testing::ReferenceProblem;
using testing::ReferenceProblems;
using testing::WithMethod;

TEST(Level, FindsEveryStoredOptimum) {
  for (const ReferenceProblem& problem : ReferenceProblems()) {
    for (const ReferenceOptimum& optimum : problem.optima) {
      if (optimum.norm != 1) continue;
      for (const double gap : {1e-3, 1e-6, 1e-8}) {
        const Learned learned = Learn(problem, 1, WithMethod("level", gap));
        EXPECT_EQ(learned.status, Status::kConverged) << problem.name << ", gap " << gap;
        EXPECT_LE(learned.certificate.relative_gap, gap) << problem.name;
        EXPECT_GE(learned.certificate.primal, optimum.lower * (1 - 1e-10)) << problem.name;
        EXPECT_LE(learned.certificate.primal, optimum.upper * (1 + 1.01 * gap)) << problem.name;
        EXPECT_LE(learned.solves, gap == 1e-3 ? 30 : 80) << problem.name << ", gap " << gap;
      }
    }
  }
}

TEST(Level, MeetsTheOtherMethodsWhateverTheCosts) {
  for (const std::string name : {"mixed_60", "each_8_sample_costs", "duplicates_6"}) {
    for (const double factor : {1e-6, 1e-2, 1.0, 100.0}) {
      ReferenceProblem problem = FindReferenceProblem(name);
      for (double& upper : problem.upper) upper *= factor;
      const Learned level = Learn(problem, 1, WithMethod("level", 1e-6));
      const Learned analytic = Learn(problem, 1, WithMethod("analytic+newton", 1e-6));
      EXPECT_EQ(level.status, Status::kConverged) << name << ", costs times " << factor;
      EXPECT_NEAR(level.certificate.primal, analytic.certificate.primal, 2e-6 * analytic.certificate.primal)
          << name << ", costs times " << factor;
    }
  }
}

// The loop of the driver, with every step in view.
TEST(Level, StepsStayInTheSimplexAndBoundsBelowTheOptimum) {
  for (const double inner_gap : {0.1, 1e-2, 1e-6}) {
    for (const ReferenceProblem& problem : ReferenceProblems()) {
      const auto optimum = std::find_if(problem.optima.begin(), problem.optima.end(),
                                        [](const ReferenceOptimum& o) { return o.norm == 1; });
      if (optimum == problem.optima.end()) continue;
      MatrixGram gram(problem.matrices);
      const LearningProblem learning{HingeRisk(problem), LpConstraint(1)};
      const Context context;
      RunControl control(context);
      const LearnOptions learn_options;
      SampleMachine machine(learning, learn_options, control);
      machine.UseGram(gram, false);
      Level level(*learning.regularizer);
      std::vector<double> theta(problem.matrices.size());
      level.Begin(theta);
      for (int k = 0; k < 12; ++k) {
        const Evaluation last = machine.Solve(theta, inner_gap);
        level.Move(last, machine, {.relative_gap = 0.5 / (k + 1), .target_gap = 1e-6}, theta);
        for (const double weight : theta) EXPECT_GE(weight, 0);
        EXPECT_NEAR(std::accumulate(theta.begin(), theta.end(), 0.0), 1, 1e-12);
        ASSERT_NE(level.dual_point(), nullptr);
        EXPECT_LE(level.dual_point()->bound, optimum->upper * (1 + 1e-9)) << problem.name << ", step " << k;
      }
    }
  }
}

TEST(Level, OneKernelNeedsOneSolve) {
  ReferenceProblem problem = FindReferenceProblem("two_widths");
  problem.matrices.resize(1);
  const Learned learned = Learn(problem, 1, WithMethod("level", 1e-8));
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_EQ(learned.theta[0], 1);
  EXPECT_LE(learned.solves, 2);
}

TEST(Level, KernelsAllTheSameNeedNoSearch) {
  ReferenceProblem problem = FindReferenceProblem("two_widths");
  problem.matrices.assign(200, problem.matrices[0]);
  const Learned learned = Learn(problem, 1, WithMethod("level", 1e-8));
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_LE(learned.iterations, 4);  // the first theta, and the three that it is compared with
}

TEST(Level, KernelsThatCannotHelpGetNoWeight) {
  ReferenceProblem problem = FindReferenceProblem("two_widths");
  const std::size_t n = problem.y.size();
  problem.matrices.push_back(std::vector<double>(n * n, 0.0));
  problem.matrices.push_back(std::vector<double>(n * n, 1.0));  // a constant: q = 0 because sum beta = 0
  std::vector<double> negative(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) negative[i * n + i] = -1;
  problem.matrices.push_back(negative);
  const Learned learned = Learn(problem, 1, WithMethod("level", 1e-6));
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_EQ(learned.theta[2] + learned.theta[3] + learned.theta[4], 0);
}

TEST(Level, NothingButZeroOrNegativeKernels) {
  for (const double factor : {0.0, -1.0}) {
    ReferenceProblem problem = FindReferenceProblem("two_widths");
    for (std::vector<double>& matrix : problem.matrices) {
      for (double& value : matrix) value *= factor;
    }
    const Learned learned = Learn(problem, 1, WithMethod("level", 1e-3));
    for (const double weight : learned.theta) EXPECT_TRUE(std::isfinite(weight));
    if (factor == 0) {
      EXPECT_EQ(learned.status, Status::kConverged);
    }
  }
}

TEST(Level, TurnsToTheExactKernelsWhenTheWorkingOnesAreTooCoarse) {
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  MatrixGram coarse(problem.matrices), exact(problem.matrices);
  coarse.PlantErrors(1e-3, 0);
  const Context context;
  RunControl control(context);
  const Learned learned =
      LearnWeights({&coarse, true, [&]() -> Gram& { return exact; }}, {HingeRisk(problem), LpConstraint(1)},
                   WithMethod("level", 1e-6), control);
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_LE(learned.certificate.relative_gap, 1e-6);
}

}  // namespace
}  // namespace kweave
