#include "qp/newton.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "compute/cpu/cholesky.h"
#include "kweave/error.h"
#include "loss/hinge.h"
#include "loss/smooth_loss.h"
#include "loss/squared.h"
#include "qp/test_problems.h"

namespace kweave {
namespace {

// Gaussian kernels of random points, and targets that follow them roughly.
struct SmoothProblem {
  Matrix matrix;
  std::vector<double> y, C;
  Risk risk(const Loss& loss, bool has_bias) const { return {&loss, y, C, has_bias}; }
};

SmoothProblem MakeProblem(Index size, double C, bool has_classes, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> x(static_cast<std::size_t>(2 * size));
  for (double& value : x) value = Normal(random);
  SmoothProblem problem{{size, std::vector<double>(static_cast<std::size_t>(size * size))}, {}, {}};
  for (Index i = 0; i < size; ++i) {
    const auto a = static_cast<std::size_t>(2 * i);
    const double target = std::sin(2 * x[a]) + x[a + 1] + 0.3 * Normal(random);
    problem.y.push_back(has_classes ? (target > 0 ? 1 : -1) : target);
    problem.C.push_back(C * (0.5 + random.Uniform()));
    for (Index j = 0; j < size; ++j) {
      const auto b = static_cast<std::size_t>(2 * j);
      problem.matrix(i, j) = std::exp(-std::pow(x[a] - x[b], 2) - std::pow(x[a + 1] - x[b + 1], 2));
    }
  }
  return problem;
}

// The Fenchel gap, straight from its definition.
double RelativeGap(const Risk& risk, const Matrix& matrix, const SolverState& state) {
  std::vector<double> f(state.beta.size());
  MatrixRows<double>(matrix).Multiply(state.beta, f);
  const double quadratic = std::inner_product(f.begin(), f.end(), state.beta.begin(), 0.0);
  const double primal = 0.5 * quadratic + risk.Value(f, risk.BestBias(f));
  return (primal - risk.Dual(state.beta) + 0.5 * quadratic) / primal;
}

TEST(Newton, SquaredLossMeetsTheClosedForm) {
  for (const bool has_bias : {true, false}) {
    for (const double C : {0.01, 1.0, 1e4}) {
      const SmoothProblem problem = MakeProblem(150, C, false, 3);
      const std::size_t n = 150;
      const SquaredLoss squared;
      const Risk risk = problem.risk(squared, has_bias);
      MatrixRows<float> rows(problem.matrix);
      SolverState state{risk.FeasibleStart(), {}, false};
      std::optional<Preconditioner> preconditioner;
      const SolverResult result = SolveNewton(risk, rows, state, preconditioner, {.relative_gap = 1e-16});
      EXPECT_LE(result.steps, 12);

      std::vector<double> factor = problem.matrix.values, solved(2 * n);
      for (std::size_t i = 0; i < n; ++i) {
        factor[i * (n + 1)] += 1 / problem.C[i];
        solved[2 * i] = problem.y[i];
        solved[2 * i + 1] = 1;
      }
      ASSERT_TRUE(FactorCholesky(factor, 150));
      SolveLower(factor, 150, solved, 2);
      SolveUpper(factor, 150, solved, 2);
      double of_y = 0, of_one = 0;
      for (std::size_t i = 0; i < n; ++i) of_y += solved[2 * i], of_one += solved[2 * i + 1];
      const double bias = has_bias ? of_y / of_one : 0;
      double error = 0, norm = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double exact = solved[2 * i] - bias * solved[2 * i + 1];
        error = std::max(error, std::abs(state.beta[i] - exact));
        norm = std::max(norm, std::abs(exact));
      }
      EXPECT_LE(error, 1e-8 * norm) << C << has_bias;
      EXPECT_NEAR(risk.BestBias(state.gradient), bias, 1e-8 * (1 + std::abs(bias)));
    }
  }
}

TEST(Newton, EverySmoothLossReachesTheGap) {
  for (const LossRecord& record : LossTable()) {
    const std::unique_ptr<Loss> loss = record.make({});
    if (!loss->smooth()) continue;
    for (const bool has_bias : {true, false}) {
      for (const double C : {1e-3, 1.0, 1e3}) {
        const SmoothProblem problem = MakeProblem(200, C, record.task == Task::kClassify, 5);
        const Risk risk = problem.risk(*loss, has_bias);
        MatrixRows<float> rows(problem.matrix, -0.7);
        SolverState state{risk.FeasibleStart(), {}, false};
        std::optional<Preconditioner> preconditioner;
        const SolverResult result = SolveNewton(risk, rows, state, preconditioner, {.relative_gap = 1e-10});
        EXPECT_EQ(result.outcome, SolverOutcome::kConverged) << record.name << ' ' << C << has_bias;
        EXPECT_LE(result.steps, 40) << record.name << ' ' << C << has_bias;
        EXPECT_LE(RelativeGap(risk, problem.matrix, state), 1.01e-10);
      }
    }
  }
}

TEST(Newton, WithoutRoomForTheMatrixItReachesTheSame) {
  const std::unique_ptr<Loss> logistic = LossTable()[3].make({});
  const SmoothProblem problem = MakeProblem(300, 10, true, 8);
  const Risk risk = problem.risk(*logistic, true);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100'000}, std::size_t{720'000}}) {
    MatrixRows<float> rows(problem.matrix);
    SolverState state{risk.FeasibleStart(), {}, false};
    std::optional<Preconditioner> preconditioner;
    SolveNewton(risk, rows, state, preconditioner, {.relative_gap = 1e-9, .memory_bytes = bytes});
    EXPECT_LE(RelativeGap(risk, problem.matrix, state), 1.01e-9) << bytes;
  }
}

TEST(Newton, WarmStartsTakeFewSteps) {
  const std::unique_ptr<Loss> logistic = LossTable()[3].make({});
  SmoothProblem problem = MakeProblem(200, 1, true, 9);
  const Risk risk = problem.risk(*logistic, true);
  SolverState state{risk.FeasibleStart(), {}, false};
  std::optional<Preconditioner> preconditioner;
  MatrixRows<float> rows(problem.matrix);
  SolveNewton(risk, rows, state, preconditioner, {.relative_gap = 1e-8});
  EXPECT_EQ(SolveNewton(risk, rows, state, preconditioner, {.relative_gap = 1e-8}).steps, 0);
  for (double& value : problem.matrix.values) value *= 1.1;
  state.gradient_is_valid = false;
  EXPECT_LE(SolveNewton(risk, rows, state, preconditioner, {.relative_gap = 1e-8}).steps, 4);
  EXPECT_LE(RelativeGap(risk, problem.matrix, state), 1.01e-8);
}

class StopAtOnce : public SolveObserver {
 public:
  Verdict Observe(SolverPause&) override { return ++calls >= 3 ? Verdict::kStop : Verdict::kContinue; }
  int calls = 0;
};

TEST(Newton, StopsWhenAskedWithAFeasibleAnswer) {
  const SquaredLoss squared;
  const SmoothProblem problem = MakeProblem(600, 1, false, 2);
  const Risk risk = problem.risk(squared, true);
  SolverState state{risk.FeasibleStart(), {}, false};
  std::optional<Preconditioner> preconditioner;
  MatrixRows<float> rows(problem.matrix);
  StopAtOnce observer;
  const SolverResult result = SolveNewton(risk, rows, state, preconditioner, {}, &observer);
  EXPECT_EQ(result.outcome, SolverOutcome::kStoppedByObserver);
  EXPECT_EQ(observer.calls, 3);
  EXPECT_NEAR(std::accumulate(state.beta.begin(), state.beta.end(), 0.0), 0, 1e-9);
}

TEST(Newton, SaysWhenValuesAreNotFinite) {
  const SquaredLoss squared;
  SmoothProblem problem = MakeProblem(20, 1, false, 2);
  problem.matrix(3, 4) = problem.matrix(4, 3) = std::nan("");
  const Risk risk = problem.risk(squared, true);
  SolverState state{risk.FeasibleStart(), {}, false};
  std::optional<Preconditioner> preconditioner;
  MatrixRows<float> rows(problem.matrix);
  const SolverResult result = SolveNewton(risk, rows, state, preconditioner, {});
  EXPECT_NE(result.outcome, SolverOutcome::kConverged);
  for (const double value : state.beta) EXPECT_TRUE(std::isfinite(value));
}

TEST(Newton, RefusesLossesWithCornersAndWrongSizes) {
  const HingeLoss hinge;
  const SquaredLoss squared;
  const SmoothProblem problem = MakeProblem(20, 1, true, 2);
  MatrixRows<float> rows(problem.matrix);
  std::optional<Preconditioner> preconditioner;
  SolverState state{std::vector<double>(20, 0.0), {}, false};
  EXPECT_THROW(SolveNewton(problem.risk(hinge, true), rows, state, preconditioner, {}), Error);
  state.beta.pop_back();
  EXPECT_THROW(SolveNewton(problem.risk(squared, true), rows, state, preconditioner, {}), Error);
}

}  // namespace
}  // namespace kweave
