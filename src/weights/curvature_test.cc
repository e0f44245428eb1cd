#include "weights/curvature.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/learn_reference.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::MatrixGram;
using testing::ReferenceProblem;

// The gradient of J is -q / 2, so H is the derivative of -q / 2.
TEST(Curvature, AgreesWithDifferencesOfTheQuadratics) {
  const ReferenceProblem& reference = FindReferenceProblem("mixed_10_large_c");
  MatrixGram gram(reference.matrices);
  gram.set_row_shift(0.7);  // rows may lack a constant
  const Context context;
  RunControl control(context);
  const LearningProblem problem{reference.y, reference.upper, 2};
  Machine machine(problem, 0, control);
  machine.UseGram(gram, false);
  std::vector<double> theta(reference.matrices.size(), 0.2);
  const std::vector<Direction> directions = {{{0}, {1.0}}, {{3}, {1.0}}, {{1, 7}, {0.6, 0.8}}};
  const auto slope = [&](const Evaluation& at, const Direction& along) {
    double sum = 0;
    for (std::size_t j = 0; j < along.kernels.size(); ++j) {
      sum -= 0.5 * along.weights[j] * at.quadratics[static_cast<std::size_t>(along.kernels[j])];
    }
    return sum;
  };
  const auto moved = [&](const Direction& along, double step) {
    std::vector<double> there = theta;
    for (std::size_t j = 0; j < along.kernels.size(); ++j) {
      there[static_cast<std::size_t>(along.kernels[j])] += step * along.weights[j];
    }
    return machine.Solve(there, 1e-13);
  };
  const Evaluation at = machine.Solve(theta, 1e-13);
  const auto hessian = Curvature(at, machine, directions);
  ASSERT_TRUE(hessian.has_value());
  for (std::size_t k = 0; k < directions.size(); ++k) {
    const double step = 1e-5;
    const Evaluation above = moved(directions[k], step), below = moved(directions[k], -step);
    for (std::size_t l = 0; l < directions.size(); ++l) {
      const double difference = (slope(above, directions[l]) - slope(below, directions[l])) / (2 * step);
      EXPECT_NEAR((*hessian)[l * directions.size() + k], difference, 0.02 * std::abs(difference) + 1e-3);
    }
  }
}

TEST(Curvature, IsZeroWithoutFreeSamples) {
  const ReferenceProblem& reference = FindReferenceProblem("two_widths");
  MatrixGram gram(reference.matrices);
  const Context context;
  RunControl control(context);
  const LearningProblem problem{reference.y, reference.upper, 2};
  Machine machine(problem, 0, control);
  machine.UseGram(gram, false);
  Evaluation at = machine.Solve(std::vector<double>{0.5, 0.5}, 1e-3);
  at.beta.assign(at.beta.size(), 0.0);
  const auto hessian = Curvature(at, machine, std::vector<Direction>{{{0}, {1.0}}});
  ASSERT_TRUE(hessian.has_value());
  EXPECT_EQ((*hessian)[0], 0);
}

}  // namespace
}  // namespace kweave
