#include "qp/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "kweave/error.h"
#include "loss/hinge.h"
#include "qp/test_problems.h"

namespace kweave {
namespace {

// Random features, and targets that follow some of them roughly.
struct LinearProblem {
  FeatureMatrix features{0};
  Matrix matrix;  // X X'
  std::vector<double> y, C;
};

LinearProblem MakeProblem(Index size, Index width, double share, double C, Task task, std::uint64_t seed) {
  Random random(seed);
  LinearProblem problem{
      FeatureMatrix(width), {size, std::vector<double>(static_cast<std::size_t>(size * size))}, {}, {}};
  std::vector<std::vector<double>> rows;
  for (Index i = 0; i < size; ++i) {
    std::vector<double>& row = rows.emplace_back(static_cast<std::size_t>(width), 0.0);
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    for (Index f = 0; f < width; ++f) {
      // A machine of one class must find the samples on one side of zero.
      const bool is_side = task == Task::kOneClass && f == 0;
      if (random.Uniform() >= share && !is_side) continue;
      columns.push_back(static_cast<std::int32_t>(f));
      values.push_back(is_side ? 3 + 0.2 * Normal(random) : Normal(random) + 0.5);
      row[static_cast<std::size_t>(f)] = values.back();
    }
    problem.features.Append(columns, values);
    const double target = 1.5 * row[0] - row[row.size() / 2] + 0.4 * Normal(random);
    problem.y.push_back(task == Task::kRegress ? target : (task == Task::kOneClass || target > 0.3 ? 1 : -1));
    problem.C.push_back(C * (0.5 + random.Uniform()));
  }
  problem.features.Finish();
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < size; ++j) {
      const auto &a = rows[static_cast<std::size_t>(i)], &b = rows[static_cast<std::size_t>(j)];
      problem.matrix(i, j) = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    }
  }
  return problem;
}

// The part of the dual problem that belongs to the loss.
struct Terms {
  explicit Terms(const Risk& risk) {
    for (std::size_t i = 0; i < risk.y.size(); ++i) {
      const DualPiece above = risk.PieceAt(i, 0, -HUGE_VAL), below = risk.PieceAt(i, 0, HUGE_VAL);
      linear.push_back(-std::midpoint(above.slope, below.slope));
      kink.push_back(0.5 * (below.slope - above.slope));
      lower.push_back(risk.Feasible(i).lower);
      upper.push_back(risk.Feasible(i).upper);
    }
    problem = {linear, lower, upper, kink, {}, risk.has_bias};
  }
  std::vector<double> linear, lower, upper, kink;
  DualProblem problem;
};

// Relative gap straight from its definition; also checks that beta is feasible and `gradient` its outputs.
double CheckedGap(const Risk& risk, const Matrix& matrix, const SolverState& state) {
  std::vector<double> f(state.beta.size());
  MatrixRows<double>(matrix).Multiply(state.beta, f);
  double sum = -risk.bias_slope, size = 1;
  for (std::size_t i = 0; i < f.size(); ++i) {
    EXPECT_NEAR(state.gradient[i], f[i], 1e-8 * (1 + std::abs(f[i])));
    EXPECT_GE(state.beta[i], risk.Feasible(i).lower);
    EXPECT_LE(state.beta[i], risk.Feasible(i).upper);
    sum += state.beta[i];
    size += std::abs(state.beta[i]);
  }
  EXPECT_NEAR(risk.has_bias ? sum : 0, 0, 1e-12 * size);
  const double quadratic = std::inner_product(f.begin(), f.end(), state.beta.begin(), 0.0);
  const double primal = 0.5 * quadratic + risk.Value(f, risk.BestBias(f));
  return (primal - risk.Dual(state.beta) + 0.5 * quadratic) / std::abs(primal);
}

TEST(Linear, EveryLossReachesTheGap) {
  ThreadPool pool(2);
  for (const LossRecord& record : LossTable()) {
    const std::unique_ptr<Loss> loss = record.make({});
    for (const bool has_bias : {true, false}) {
      if (record.task == Task::kOneClass && !has_bias) continue;  // nothing to learn
      for (const double share : {0.05, 1.0}) {
        for (const double C : {1e-3, 1.0, 100.0}) {
          const LinearProblem problem = MakeProblem(300, 40, share, C, record.task, 5);
          Risk risk{loss.get(), problem.y, problem.C, has_bias};
          if (record.task == Task::kOneClass && has_bias) {
            risk.bias_slope = 0.3 * std::accumulate(problem.C.begin(), problem.C.end(), 0.0);
          }
          const Terms terms(risk);
          for (const Index most_to_factor : {100, 0}) {
            const std::string name = std::string(record.name) + (has_bias ? " bias " : " ") +
                                     std::to_string(share) + " " + std::to_string(C);
            SolverState state{risk.FeasibleStart(), {}, false};
            double sigma = 0;
            LinearOptions options{.relative_gap = 1e-8, .most_to_factor = most_to_factor, .pool = &pool};
            const SolverResult result =
                SolveLinear(risk, terms.problem, problem.features, state, sigma, options);
            EXPECT_EQ(result.outcome, SolverOutcome::kConverged) << name;
            EXPECT_LE(CheckedGap(risk, problem.matrix, state), 1.1e-8) << name;
            EXPECT_LE(result.steps, 400) << name;
            // From the solution it is not far to a better one.
            options.relative_gap = 1e-9;
            EXPECT_LE(SolveLinear(risk, terms.problem, problem.features, state, sigma, options).steps, 200)
                << name;
          }
        }
      }
    }
  }
}

TEST(Linear, AgreesWithPairs) {
  for (const LossRecord& record : LossTable()) {
    const std::unique_ptr<Loss> loss = record.make({});
    if (loss->smooth()) continue;
    for (const bool has_bias : {true, false}) {
      const LinearProblem problem = MakeProblem(200, 15, 0.4, 0.7, record.task, 8);
      const Risk risk{loss.get(), problem.y, problem.C, has_bias,
                      record.task == Task::kOneClass && has_bias ? 40.0 : 0.0};
      const Terms terms(risk);
      MatrixRows<double> rows(problem.matrix);
      SolverState pairs{risk.FeasibleStart(), {}, false}, features = pairs;
      double sigma = 0;
      const SolverResult by_pairs =
          SolveDual<double>(SolverKind::kSmo, terms.problem, rows, pairs, {.tolerance = 1e-10});
      const SolverResult by_features =
          SolveLinear(risk, terms.problem, problem.features, features, sigma, {.relative_gap = 1e-10});
      EXPECT_NEAR(by_features.objective, by_pairs.objective, 1e-9 * std::abs(by_pairs.objective))
          << record.name;
    }
  }
}

TEST(Linear, ManyMoreFeaturesThanSamplesAndNone) {
  const HingeLoss hinge;
  for (const Index width : {400, 1}) {
    for (const double share : {0.2, 0.0}) {
      const LinearProblem problem = MakeProblem(60, width, share, 10, Task::kClassify, 2);
      const Risk risk{&hinge, problem.y, problem.C, true};
      const Terms terms(risk);
      SolverState state{risk.FeasibleStart(), {}, false};
      double sigma = 0;
      const SolverResult result =
          SolveLinear(risk, terms.problem, problem.features, state, sigma, {.relative_gap = 1e-8});
      EXPECT_EQ(result.outcome, SolverOutcome::kConverged) << width << ' ' << share;
      EXPECT_LE(CheckedGap(risk, problem.matrix, state), 1.1e-8) << width << ' ' << share;
    }
  }
}

TEST(Linear, ObserverEndsIt) {
  class Stopper : public SolveObserver {
   public:
    Verdict Observe(SolverPause& pause) override {
      return pause.steps() >= 2 ? Verdict::kStop : Verdict::kContinue;
    }
  };
  const HingeLoss hinge;
  const LinearProblem problem = MakeProblem(300, 20, 0.5, 10, Task::kClassify, 3);
  const Risk risk{&hinge, problem.y, problem.C, true};
  const Terms terms(risk);
  SolverState state{risk.FeasibleStart(), {}, false};
  double sigma = 0;
  Stopper stopper;
  const SolverResult result =
      SolveLinear(risk, terms.problem, problem.features, state, sigma, {.relative_gap = 1e-8}, &stopper);
  EXPECT_EQ(result.outcome, SolverOutcome::kStoppedByObserver);
  EXPECT_EQ(result.steps, 2);
  EXPECT_LT(CheckedGap(risk, problem.matrix, state), HUGE_VAL);
}

TEST(Linear, WrongSizesThrow) {
  const HingeLoss hinge;
  const LinearProblem problem = MakeProblem(10, 3, 1, 1, Task::kClassify, 3);
  const Risk risk{&hinge, problem.y, problem.C, true};
  const Terms terms(risk);
  SolverState state{std::vector<double>(9, 0.0), {}, false};
  double sigma = 0;
  EXPECT_THROW(SolveLinear(risk, terms.problem, problem.features, state, sigma, {}), Error);
}

}  // namespace
}  // namespace kweave
