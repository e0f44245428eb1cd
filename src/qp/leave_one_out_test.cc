#include "qp/leave_one_out.h"

#include <gtest/gtest.h>

#include <vector>

#include "loss/squared.h"
#include "qp/newton.h"
#include "qp/test_problems.h"

namespace kweave {
namespace {

struct Solved {
  std::vector<double> beta;
  double bias = 0;
};

Solved Solve(const Risk& risk, const Matrix& matrix) {
  MatrixRows<float> rows(matrix);
  SolverState state{risk.FeasibleStart(), {}, false};
  std::optional<Preconditioner> preconditioner;
  SolveNewton(risk, rows, state, preconditioner, {.relative_gap = 1e-15});
  return {state.beta, risk.BestBias(state.gradient)};
}

TEST(LeaveOneOut, MeetsTrainingWithoutTheSample) {
  Random random(6);
  constexpr Index kSize = 25;
  const Matrix matrix = RandomGram(kSize, 5, random);
  std::vector<double> y(kSize), C(kSize);
  for (double& value : y) value = Normal(random);
  for (double& value : C) value = 0.2 + random.Uniform();
  const SquaredLoss squared;
  for (const bool has_bias : {true, false}) {
    const Risk risk{&squared, y, C, has_bias};
    MatrixRows<double> rows(matrix, -0.3);
    const std::vector<double> outputs = LeaveOneOut(risk, rows, Solve(risk, matrix).beta);
    ASSERT_EQ(outputs.size(), y.size());
    for (Index left_out = 0; left_out < kSize; ++left_out) {
      const auto skip = static_cast<std::size_t>(left_out);
      std::vector<double> other_y = y, other_C = C;
      other_y.erase(other_y.begin() + left_out);
      other_C.erase(other_C.begin() + left_out);
      Matrix other{kSize - 1, {}};
      std::vector<double> row;
      for (Index i = 0; i < kSize; ++i) {
        for (Index j = 0; j < kSize; ++j) {
          if (i != left_out && j != left_out) other.values.push_back(matrix(i, j));
          if (i == left_out && j != left_out) row.push_back(matrix(i, j));
        }
      }
      const Solved solved = Solve({&squared, other_y, other_C, has_bias}, other);
      double f = solved.bias;
      for (std::size_t j = 0; j < row.size(); ++j) f += solved.beta[j] * row[j];
      EXPECT_NEAR(outputs[skip], f, 1e-6);
    }
  }
}

}  // namespace
}  // namespace kweave
