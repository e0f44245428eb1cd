#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/constants.h"
#include "kweave/error.h"
#include "qp/smo.h"
#include "qp/solve.h"
#include "qp/test_problems.h"

namespace kweave {
namespace {

TestProblem MakeProblem(Matrix matrix, std::vector<double> y, double c) {
  TestProblem problem;
  problem.matrix = std::move(matrix);
  for (const double label : y) {
    problem.linear.push_back(-label);
    problem.lower.push_back(label > 0 ? 0 : -c);
    problem.upper.push_back(label > 0 ? c : 0);
    problem.start.push_back(0);
  }
  return problem;
}

/// Every test runs with every solver.
class Solver : public testing::TestWithParam<SolverKind> {
 protected:
  template <class T = double>
  static SolverResult Solve(const TestProblem& problem, SolverState& state, SolverOptions options = {},
                            SolveObserver* observer = nullptr) {
    if (state.beta.empty()) state.beta = problem.start;
    MatrixRows<T> rows(problem.matrix);
    return SolveDual<T>(GetParam(), problem.view(), rows, state, options, observer);
  }
};

INSTANTIATE_TEST_SUITE_P(All, Solver, testing::ValuesIn(kSolvers), ParameterName);

TEST_P(Solver, TwoSamplesInClosedForm) {
  // Along beta = (d, -d): minimise 1/2 q d^2 - 2 d, so d = min(2 / q, C).
  for (const double off_diagonal : {-0.9, 0.0, 0.5, 0.99}) {
    for (const double c : {0.1, 1.0, 100.0, kInfinity}) {
      const Matrix matrix{2, {1, off_diagonal, off_diagonal, 2}};
      SolverState state;
      const auto result = Solve(MakeProblem(matrix, {1, -1}, c), state, {.tolerance = 1e-9});
      const double curvature = 3 - 2 * off_diagonal, d = std::min(2 / curvature, c);
      EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
      EXPECT_EQ(result.steps, 1);
      EXPECT_DOUBLE_EQ(state.beta[0], d);
      EXPECT_DOUBLE_EQ(state.beta[1], -d);
      EXPECT_NEAR(result.objective, 0.5 * curvature * d * d - 2 * d, 1e-12);
    }
  }
}

TEST_P(Solver, ThreeSamplesAgainstAGrid) {
  // y = (+, +, -): beta = (a, b, -a - b), searched over a fine grid of the box.
  Random random(7);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const double c = 0.2 + 2 * random.Uniform();
    const TestProblem problem = MakeProblem(RandomGram(3, 3, random), {1, 1, -1}, c);
    SolverState state;
    const auto result = Solve(problem, state, {.tolerance = 1e-10});
    ASSERT_EQ(result.outcome, SolverOutcome::kConverged);
    constexpr int kGrid = 200;
    double least = kInfinity;
    for (int i = 0; i <= kGrid; ++i) {
      for (int j = 0; i + j <= kGrid; ++j) {
        const double a = c * i / kGrid, b = c * j / kGrid;
        least = std::min(least, Check(problem, {a, b, -a - b}).objective);
      }
    }
    EXPECT_LE(result.objective, least + 1e-12);
    EXPECT_GE(result.objective, least - 1e-3 * (1 + c) * (1 + c));
  }
}

TEST_P(Solver, ReachesBoundsExactly) {
  Random random(1);
  const TestProblem problem = RandomClassification(200, 5, 0.3, random);
  SolverState state;
  ASSERT_EQ(Solve(problem, state).outcome, SolverOutcome::kConverged);
  int at_upper = 0;
  for (std::size_t k = 0; k < state.beta.size(); ++k) {
    const double distance = std::min(problem.upper[k] - state.beta[k], state.beta[k] - problem.lower[k]);
    EXPECT_TRUE(distance == 0 || distance > 1e-12) << distance;
    at_upper += state.beta[k] != 0 && distance == 0;
  }
  EXPECT_GT(at_upper, 20);
}

TEST_P(Solver, NothingToMove) {
  SolverState state;
  // One sample, one class, all weights zero, no samples.
  EXPECT_EQ(Solve(MakeProblem({1, {1}}, {1}, 5), state).outcome, SolverOutcome::kConverged);
  EXPECT_EQ(state.beta, std::vector<double>{0});
  state = {};
  Random random(3);
  const auto one_class = Solve(MakeProblem(RandomGram(9, 3, random), std::vector<double>(9, 1.0), 2), state);
  EXPECT_EQ(one_class.outcome, SolverOutcome::kConverged);
  EXPECT_EQ(one_class.steps, 0);
  state = {};
  EXPECT_EQ(Solve(MakeProblem(RandomGram(4, 3, random), {1, -1, 1, -1}, 0), state).steps, 0);
  state = {};
  EXPECT_EQ(Solve(MakeProblem({0, {}}, {}, 1), state).outcome, SolverOutcome::kConverged);
}

TEST_P(Solver, StepLimitReturnsAFeasiblePoint) {
  Random random(5);
  const TestProblem problem = RandomClassification(100, 20, 10, random);
  SolverState state;
  const auto result = Solve(problem, state, {.tolerance = 1e-8, .max_steps = 25});
  EXPECT_EQ(result.outcome, SolverOutcome::kStepLimit);
  EXPECT_EQ(result.steps, 25);
  const PlainCheck check = Check(problem, state.beta);
  EXPECT_TRUE(check.is_feasible);
  EXPECT_NEAR(check.violation, result.violation, 1e-9);
  EXPECT_NEAR(check.objective, result.objective, 1e-9);
}

TEST_P(Solver, GoesOnWhereItStopped) {
  Random random(6);
  const TestProblem problem = RandomClassification(150, 10, 10, random);
  SolverState state;
  std::int64_t steps = 0;
  SolverResult result;
  for (int part = 0; part < 10000; ++part) {
    result = Solve(problem, state, {.tolerance = 1e-6, .max_steps = 10});
    steps += result.steps;
    if (result.outcome == SolverOutcome::kConverged) break;
  }
  ASSERT_EQ(result.outcome, SolverOutcome::kConverged);
  SolverState again{state.beta, {}, false};
  EXPECT_EQ(Solve(problem, again, {.tolerance = 2e-6}).steps, 0);
}

TEST_P(Solver, SumStaysOverAMillionSteps) {
  Random random(11);
  TestProblem problem = RandomBox(200, 100, random);
  SolverState state{problem.start, {}, false};
  // One solve after the other, each from where the last one ended and with another linear term.
  for (std::int64_t steps = 0; steps < 1'000'000;) {
    for (double& value : problem.linear) value = 3 * Normal(random);
    state.gradient_is_valid = false;
    const auto result = Solve(problem, state, {.tolerance = 1e-9});
    ASSERT_EQ(result.outcome, SolverOutcome::kConverged);
    steps += result.steps;
  }
  const PlainCheck check = Check(problem, state.beta);
  EXPECT_TRUE(check.is_feasible);
  EXPECT_NEAR(check.sum, std::accumulate(problem.start.begin(), problem.start.end(), 0.0), 1e-10);
}

TEST_P(Solver, IndefiniteMatrixEnds) {
  Random random(12);
  for (int repeat = 0; repeat < 20; ++repeat) {
    TestProblem problem = RandomClassification(60, 5, 5, random);
    for (Index i = 0; i < 60; ++i) {
      for (Index j = 0; j <= i; ++j) problem.matrix(i, j) = problem.matrix(j, i) = Normal(random);
    }
    SolverState state;
    const auto result = Solve(problem, state, {.max_steps = 200'000});
    EXPECT_TRUE(Check(problem, state.beta).is_feasible);
    if (result.outcome == SolverOutcome::kConverged) {
      EXPECT_LE(Check(problem, state.beta).violation, 1e-3 + 1e-9);
    }
  }
}

TEST_P(Solver, ConstantMatrixHasNoCurvature) {
  const TestProblem problem = MakeProblem({4, std::vector<double>(16, 1.0)}, {1, -1, 1, -1}, 2);
  SolverState state;
  EXPECT_EQ(Solve(problem, state).outcome, SolverOutcome::kConverged);
  EXPECT_EQ(state.beta, (std::vector<double>{2, -2, 2, -2}));
}

TEST_P(Solver, OutOfReachToleranceEndsAsStalledOrConverged) {
  Random random(13);
  const TestProblem problem = RandomClassification(80, 40, 1e6, random);
  SolverState state;
  const auto result = Solve<float>(problem, state, {.tolerance = 0});
  EXPECT_TRUE(result.outcome == SolverOutcome::kStalled || result.outcome == SolverOutcome::kConverged);
  EXPECT_TRUE(Check(problem, state.beta).is_feasible);
}

TEST_P(Solver, ValuesThatAreNotFiniteAreAnOutcome) {
  Random random(14);
  for (const double bad : {std::nan(""), kInfinity, -kInfinity}) {
    for (const Index at : {Index{0}, Index{17}, Index{39}}) {
      TestProblem problem = RandomClassification(40, 10, 1, random);
      problem.matrix(at, (at + 1) % 40) = problem.matrix((at + 1) % 40, at) = bad;
      SolverState state;
      const auto result = Solve(problem, state, {.rows_per_batch = 40});
      EXPECT_EQ(result.outcome, SolverOutcome::kNotFinite);
      for (const double beta : state.beta) EXPECT_TRUE(std::isfinite(beta));
      EXPECT_FALSE(state.gradient_is_valid);
    }
  }
  TestProblem problem = RandomClassification(40, 10, 1, random);
  problem.matrix(3, 3) = std::nan("");
  SolverState state;
  EXPECT_EQ(Solve(problem, state).outcome, SolverOutcome::kNotFinite);
}

TEST_P(Solver, WrongUseThrows) {
  Random random(15);
  const TestProblem problem = RandomClassification(10, 3, 1, random);
  SolverState state{std::vector<double>(10, 5.0), {}, false};
  EXPECT_THROW(Solve(problem, state), Error);
  state.beta.resize(9);
  EXPECT_THROW(Solve(problem, state), Error);
  state.beta = problem.start;
  EXPECT_THROW(Solve(problem, state, {.tolerance = -1}), Error);
  EXPECT_THROW(Solve(problem, state, {.tolerance = std::nan("")}), Error);
  EXPECT_THROW(Solve(problem, state, {.rows_per_batch = 0}), Error);
}

class Recorder : public SolveObserver {
 public:
  explicit Recorder(const TestProblem& problem, int stop_after = 1 << 30)
      : problem_(problem), stop_after_(stop_after) {}
  Verdict Observe(SolverPause& pause) override {
    ++visits;
    const std::vector<double> beta(pause.Beta().begin(), pause.Beta().end());
    const PlainCheck check = Check(problem_, beta);
    EXPECT_TRUE(check.is_feasible);
    EXPECT_NEAR(check.objective, pause.objective(), 1e-8 * (1 + std::abs(check.objective)));
    EXPECT_LE(pause.violation(), check.violation + 1e-8);
    EXPECT_LT(pause.objective(), last_objective_);
    last_objective_ = pause.objective();
    MatrixRows<double> rows(problem_.matrix);
    std::vector<double> product(beta.size());
    rows.Multiply(beta, product);
    const auto gradient = pause.Gradient();
    for (std::size_t k = 0; k < beta.size(); ++k)
      EXPECT_NEAR(gradient[k], product[k] + problem_.linear[k], 1e-8);
    return visits < stop_after_ ? Verdict::kContinue : Verdict::kStop;
  }
  int visits = 0;

 private:
  const TestProblem& problem_;
  int stop_after_;
  double last_objective_ = kInfinity;
};

TEST_P(Solver, ObserverSeesTheTruthWhileVariablesAreAside) {
  Random random(16);
  const TestProblem problem = RandomClassification(200, 20, 0.2, random);
  SolverState state;
  Recorder recorder(problem);
  const auto result = Solve(problem, state, {.tolerance = 1e-7, .observe_every = 20}, &recorder);
  EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
  EXPECT_EQ(recorder.visits, (result.steps - 1) / 20);
}

TEST_P(Solver, ObserverStops) {
  Random random(17);
  const TestProblem problem = RandomClassification(200, 8, 2, random);
  SolverState state;
  Recorder recorder(problem, 3);
  const auto result = Solve(problem, state, {.tolerance = 1e-7, .observe_every = 20}, &recorder);
  EXPECT_EQ(result.outcome, SolverOutcome::kStoppedByObserver);
  EXPECT_EQ(result.steps, 60);
}

TEST_P(Solver, ObserverMayAskForASmallerToleranceAtTheEnd) {
  Random random(20);
  const TestProblem problem = RandomClassification(300, 8, 2, random);
  class Tighten : public SolveObserver {
   public:
    Verdict Observe(SolverPause& pause) override { return Verdict::kContinue; }
    Verdict OnTolerance(SolverPause& pause, double& tolerance) override {
      EXPECT_LE(pause.violation(), tolerance);
      EXPECT_EQ(pause.Gradient().size(), pause.Beta().size());
      tolerance *= 0.1;
      return ++calls < 4 ? Verdict::kContinue : Verdict::kStop;
    }
    int calls = 0;
  };
  Tighten tighten;
  SolverState state;
  const auto result = Solve(problem, state, {.tolerance = 1e-2}, &tighten);
  EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
  EXPECT_EQ(tighten.calls, 4);
  EXPECT_LE(Check(problem, state.beta).violation, 1e-5 + 1e-9);
}

TEST_P(Solver, MatrixMayChangeInsideASolve) {
  Random random(18);
  const TestProblem first = RandomClassification(200, 8, 2, random);
  TestProblem moving = first, second = first;
  second.matrix = RandomGram(200, 12, random);
  class Change : public SolveObserver {
   public:
    Change(TestProblem& from, const TestProblem& to) : from_(from), to_(to) {}
    Verdict Observe(SolverPause& pause) override {
      if (did_change_) return Verdict::kContinue;
      did_change_ = true;
      from_.matrix = to_.matrix;
      const auto gradient = pause.Gradient();
      MatrixRows<double> rows(to_.matrix);
      rows.Multiply(pause.Beta(), gradient);
      for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] += to_.linear[k];
      return Verdict::kMatrixChanged;
    }

   private:
    TestProblem& from_;
    const TestProblem& to_;
    bool did_change_ = false;
  } change(moving, second);
  SolverState state, direct;
  const auto result = Solve(moving, state, {.tolerance = 1e-7, .observe_every = 60}, &change);
  ASSERT_EQ(result.outcome, SolverOutcome::kConverged);
  EXPECT_LE(Check(second, state.beta).violation, 1.1e-7);
  EXPECT_NEAR(result.objective, Solve(second, direct, {.tolerance = 1e-7}).objective, 1e-5);
}

TEST(ChooseSolver, TakesBlocksForManySamplesAndFewRows) {
  const std::vector<double> values(5000, 1.0);
  const DualProblem many{values, values, values};
  const DualProblem few{std::span(values).first(100), std::span(values).first(100),
                        std::span(values).first(100)};
  const SolverOptions all_rows{.cache_bytes = std::size_t{5000} * 5000 * sizeof(float)};
  const SolverOptions few_rows{.cache_bytes = std::size_t{500} * 5000 * sizeof(float)};
  EXPECT_EQ(ChooseSolver<float>(SolverKind::kAuto, many, few_rows), SolverKind::kBlock);
  EXPECT_EQ(ChooseSolver<float>(SolverKind::kAuto, many, all_rows), SolverKind::kSmo);
  EXPECT_EQ(ChooseSolver<float>(SolverKind::kAuto, few, {.cache_bytes = 0}), SolverKind::kSmo);
  EXPECT_EQ(ChooseSolver<float>(SolverKind::kSmo, many, few_rows), SolverKind::kSmo);
}

TEST(Smo, BatchesSaveCalls) {
  Random random(19);
  const TestProblem problem = RandomClassification(400, 30, 1, random);
  long calls[2];
  std::int64_t rows_computed[2];
  for (const Index batch : {Index{1}, Index{32}}) {
    MatrixRows<float> rows(problem.matrix);
    SolverState state{problem.start, {}, false};
    const auto result = SolveSmo<float>(problem.view(), rows, state, {.rows_per_batch = batch});
    calls[batch > 1] = rows.calls;
    rows_computed[batch > 1] = result.rows_computed;
    EXPECT_LE(result.rows_computed, 400);
  }
  EXPECT_EQ(calls[0], rows_computed[0]);
  EXPECT_LT(10 * calls[1], calls[0]);
}

}  // namespace
}  // namespace kweave
