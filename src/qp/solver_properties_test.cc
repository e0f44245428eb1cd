// What must hold for every problem: all ways to run the solver meet at one objective that satisfies the
// optimality conditions.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "base/dot.h"
#include "base/threads.h"
#include "qp/solve.h"
#include "qp/test_problems.h"

namespace kweave {
namespace {

constexpr double kTolerance = 1e-6;

struct Solved {
  SolverResult result;
  SolverState state;
};

/// Every property is checked with every solver.
class SolverProperties : public testing::TestWithParam<SolverKind> {
 protected:
  template <class T = double>
  static Solved Solve(const TestProblem& problem, SolverOptions options = {.tolerance = kTolerance},
                      double shift = 0) {
    Solved solved;
    solved.state.beta = problem.start;
    MatrixRows<T> rows(problem.matrix, shift);
    solved.result = SolveDual<T>(GetParam(), problem.view(), rows, solved.state, options);
    return solved;
  }
};

INSTANTIATE_TEST_SUITE_P(All, SolverProperties, testing::ValuesIn(kSolvers), ParameterName);

/// At a violation of v no objective is further from the least than v times the range the variables can move.
double Reach(const TestProblem& problem, double violation) {
  double range = 0;
  for (std::size_t k = 0; k < problem.upper.size(); ++k) range += problem.upper[k] - problem.lower[k];
  return violation * (1 + range);
}

TestProblem AnyProblem() {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const Index size = *rc::gen::inRange<Index>(1, 150);
  const Index rank = *rc::gen::inRange<Index>(1, 40);
  const double largest_c = *rc::gen::element(0.01, 1.0, 30.0);
  TestProblem problem;
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      problem = RandomBox(size, rank, random);
      break;
    case 1:
      problem = RandomClassification(size, rank, largest_c, random);
      break;
    default:
      problem = RandomRegression(size, rank, largest_c, random);
  }
  if (*rc::gen::inRange(0, 4) == 0) {
    for (Index i = 0; i < size; ++i) problem.curvature.push_back(random.Uniform());
  }
  problem.has_sum = *rc::gen::inRange(0, 3) > 0;
  return problem;
}

TEST_P(SolverProperties, ConvergedMeansOptimal) {
  EXPECT_TRUE(rc::check([] {
    const TestProblem problem = AnyProblem();
    const auto [result, state] = Solve(problem);
    RC_ASSERT(result.outcome == SolverOutcome::kConverged);
    const PlainCheck check = Check(problem, state.beta);
    RC_ASSERT(check.is_feasible);
    RC_ASSERT(check.violation <= kTolerance + 1e-9);
    RC_ASSERT(std::abs(check.objective - result.objective) <= 1e-9 * (1 + std::abs(check.objective)));
  }));
}

TEST_P(SolverProperties, AllWaysToRunMeet) {
  EXPECT_TRUE(rc::check([] {
    const TestProblem problem = AnyProblem();
    const double objective = Solve(problem).result.objective;
    SolverOptions no_shrinking{.tolerance = kTolerance, .use_shrinking = false};
    SolverOptions two_rows{.tolerance = kTolerance, .cache_bytes = 0};
    SolverOptions small_cache{.tolerance = kTolerance,
                              .cache_bytes = static_cast<std::size_t>(problem.size()) * 30 * sizeof(double),
                              .rows_per_batch = *rc::gen::inRange<Index>(1, 40)};
    SolverOptions single_rows{.tolerance = kTolerance, .rows_per_batch = 1};
    ThreadPool pool(2);
    SolverOptions two_threads{.tolerance = kTolerance, .pool = &pool};
    for (const SolverOptions& options : {no_shrinking, two_rows, small_cache, single_rows, two_threads}) {
      const auto [result, state] = Solve(problem, options);
      RC_ASSERT(result.outcome == SolverOutcome::kConverged);
      RC_ASSERT(Check(problem, state.beta).violation <= kTolerance + 1e-9);
      RC_ASSERT(std::abs(result.objective - objective) <= Reach(problem, kTolerance));
    }
  }));
}

TEST_P(SolverProperties, WarmAndColdMeet) {
  EXPECT_TRUE(rc::check([] {
    TestProblem problem = AnyProblem();
    const Solved cold = Solve(problem);
    // A start on the way, the gradient left out or passed in.
    SolverState state{problem.start, {}, false};
    MatrixRows<double> rows(problem.matrix);
    SolveDual<double>(GetParam(), problem.view(), rows, state,
                      {.tolerance = kTolerance, .max_steps = *rc::gen::inRange(1, 100)});
    state.gradient_is_valid = *rc::gen::arbitrary<bool>();
    const auto warm = SolveDual<double>(GetParam(), problem.view(), rows, state, {.tolerance = kTolerance});
    RC_ASSERT(warm.outcome == SolverOutcome::kConverged);
    RC_ASSERT(Check(problem, state.beta).violation <= kTolerance + 1e-9);
    RC_ASSERT(std::abs(warm.objective - cold.result.objective) <= Reach(problem, kTolerance));
  }));
}

TEST_P(SolverProperties, FloatAndDoubleMeet) {
  EXPECT_TRUE(rc::check([] {
    const TestProblem problem = AnyProblem();
    const double objective = Solve(problem).result.objective;
    const auto [result, state] = Solve<float>(problem, {.tolerance = 1e-3});
    RC_ASSERT(result.outcome == SolverOutcome::kConverged);
    const double rounding = 1e-6 * SumOfMagnitudes(state.beta);
    RC_ASSERT(Check(problem, state.beta).violation <= 1e-3 + rounding);
    RC_ASSERT(std::abs(Check(problem, state.beta).objective - objective) <= Reach(problem, 1e-3 + rounding));
  }));
}

TEST_P(SolverProperties, AConstantAddedToTheMatrixChangesNothing) {
  EXPECT_TRUE(rc::check([] {
    const TestProblem problem = AnyProblem();
    const auto [result, state] =
        Solve(problem, {.tolerance = kTolerance}, *rc::gen::element(-3.0, 0.5, 20.0));
    RC_ASSERT(result.outcome == SolverOutcome::kConverged);
    RC_ASSERT(Check(problem, state.beta).violation <= kTolerance + 1e-9);
  }));
}

TEST_P(SolverProperties, OrderOfSamplesDoesNotMatter) {
  EXPECT_TRUE(rc::check([] {
    const TestProblem problem = AnyProblem();
    const Index size = problem.size();
    std::vector<Index> order(static_cast<std::size_t>(size));
    for (Index i = 0; i < size; ++i) order[static_cast<std::size_t>(i)] = i;
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    for (Index i = size - 1; i > 0; --i) {
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.Below(i + 1))]);
    }
    TestProblem shuffled = problem;
    for (Index i = 0; i < size; ++i) {
      const auto to = static_cast<std::size_t>(i), from = static_cast<std::size_t>(order[to]);
      shuffled.linear[to] = problem.linear[from];
      shuffled.lower[to] = problem.lower[from];
      shuffled.upper[to] = problem.upper[from];
      shuffled.start[to] = problem.start[from];
      if (!problem.kink.empty()) shuffled.kink[to] = problem.kink[from];
      if (!problem.curvature.empty()) shuffled.curvature[to] = problem.curvature[from];
      for (Index j = 0; j < size; ++j) {
        shuffled.matrix(i, j) = problem.matrix(order[to], order[static_cast<std::size_t>(j)]);
      }
    }
    const double difference = Solve(problem).result.objective - Solve(shuffled).result.objective;
    RC_ASSERT(std::abs(difference) <= Reach(problem, kTolerance));
  }));
}

}  // namespace
}  // namespace kweave
