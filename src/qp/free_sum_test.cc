#include "qp/free_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "qp/smo.h"
#include "qp/test_problems.h"

namespace kweave {
namespace {

TestProblem FreeProblem(Random& random) {
  TestProblem problem = RandomRegression(120, 10, 2, random);
  problem.has_sum = false;
  return problem;
}

TEST(FreeSum, OneVariableInClosedForm) {
  for (const double target : {-3.0, -0.3, 0.2, 1.0, 9.0}) {
    TestProblem problem;
    problem.matrix = {1, {2.0}};
    problem.linear = {-target};
    problem.lower = {-1};
    problem.upper = {1};
    problem.kink = {0.4};
    problem.has_sum = false;
    MatrixRows<double> rows(problem.matrix);
    SolverState state{{0.0}, {}, false};
    const auto result = SolveSmo<double>(problem.view(), rows, state, {.tolerance = 1e-12});
    EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
    const double shrunk = std::max(std::abs(target) - 0.4, 0.0) / 2;
    EXPECT_NEAR(state.beta[0], std::copysign(std::min(shrunk, 1.0), target), 1e-12);
    ASSERT_EQ(state.gradient.size(), 1u);
    EXPECT_NEAR(state.gradient[0], 2 * state.beta[0] - target, 1e-12);
  }
}

TEST(FreeSum, NothingToSolve) {
  TestProblem problem;
  problem.has_sum = false;
  MatrixRows<double> rows(problem.matrix);
  SolverState state;
  EXPECT_EQ(SolveSmo<double>(problem.view(), rows, state, {}).outcome, SolverOutcome::kConverged);
}

// Rows that leave out a constant, which here matters, and an observer that must not see the added variable.
TEST(FreeSum, ObserverSeesTheProblemAndTheConstantCounts) {
  Random random(4);
  const TestProblem problem = FreeProblem(random);
  class Watch : public SolveObserver {
   public:
    explicit Watch(const TestProblem& problem) : problem_(problem) {}
    Verdict Observe(SolverPause& pause) override {
      ++visits;
      const std::vector<double> beta(pause.Beta().begin(), pause.Beta().end());
      EXPECT_EQ(beta.size(), problem_.linear.size());
      const PlainCheck check = Check(problem_, beta);
      EXPECT_NEAR(check.objective, pause.objective(), 1e-9 * (1 + std::abs(check.objective)));
      std::vector<double> expected(beta.size());
      MatrixRows<double>(problem_.matrix).Multiply(beta, expected);
      const auto gradient = pause.Gradient();
      EXPECT_EQ(gradient.size(), expected.size());
      for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_NEAR(gradient[k], expected[k] + problem_.linear[k], 1e-9);
      }
      return Verdict::kContinue;
    }
    int visits = 0;

   private:
    const TestProblem& problem_;
  };
  for (const double shift : {0.0, -0.7, 5.0}) {
    Watch watch(problem);
    MatrixRows<double> rows(problem.matrix, shift);
    SolverState state{problem.start, {}, false};
    const auto result =
        SolveSmo<double>(problem.view(), rows, state, {.tolerance = 1e-8, .observe_every = 25}, &watch);
    EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
    EXPECT_GT(watch.visits, 2);
    EXPECT_LE(Check(problem, state.beta).violation, 1e-8 + 1e-10);
  }
}

TEST(FreeSum, WrongUseLeavesTheStateAlone) {
  Random random(5);
  const TestProblem problem = FreeProblem(random);
  MatrixRows<double> rows(problem.matrix);
  SolverState state{std::vector<double>(120, 50.0), {}, false};
  EXPECT_ANY_THROW(SolveSmo<double>(problem.view(), rows, state, {}));
  EXPECT_EQ(state.beta.size(), 120u);
}

}  // namespace
}  // namespace kweave
