#include "weights/run/dual_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "loss/epsilon_insensitive.h"
#include "loss/hinge.h"
#include "loss/one_class.h"
#include "loss/squared_hinge.h"

namespace kweave {
namespace {

/// -L(beta) by the terms.
double Value(const DualProblem& terms, const std::vector<double>& beta) {
  double sum = 0;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    sum += terms.linear[i] * beta[i];
    if (!terms.kink.empty()) sum += terms.kink[i] * std::abs(beta[i]);
    if (!terms.curvature.empty()) sum += 0.5 * terms.curvature[i] * beta[i] * beta[i];
  }
  return sum;
}

TEST(DualTerms, AreTheDualOfTheLoss) {
  const EpsilonInsensitiveLoss tube(0.3);
  const HingeLoss hinge;
  const OneClassLoss one_class;
  const SquaredHingeLoss squared_hinge;
  Random random(1);
  for (const Loss* loss : std::vector<const Loss*>{&tube, &hinge, &one_class, &squared_hinge}) {
    const std::vector<double> y = {1, -1, 1, -1}, C = {0.5, 1, 2, 4};
    const Risk risk{loss, y, C, true, 0};
    const DualTerms terms(risk);
    const DualProblem problem = terms.problem();
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<double> beta(4);
      for (std::size_t i = 0; i < beta.size(); ++i) {
        EXPECT_EQ(problem.lower[i], risk.Feasible(i).lower);
        EXPECT_EQ(problem.upper[i], risk.Feasible(i).upper);
        beta[i] = std::clamp(4 * random.Uniform() - 2, problem.lower[i], problem.upper[i]);
      }
      EXPECT_NEAR(Value(problem, beta), -risk.Dual(beta), 1e-12);
    }
  }
  const std::vector<double> y = {1}, C = {1};
  EXPECT_TRUE(DualTerms(Risk{&hinge, y, C}).problem().kink.empty());  // so that the plain loops run
  EXPECT_TRUE(DualTerms(Risk{&tube, y, C}).problem().curvature.empty());
  EXPECT_FALSE(DualTerms(Risk{&hinge, y, C, false}).problem().has_sum);
}

TEST(DualTerms, OutputsAndGradientAreInverse) {
  const SquaredHingeLoss loss;
  const std::vector<double> y = {1, -1}, C = {0.5, 4}, beta = {0.25, -3}, outputs = {0.5, -2};
  const DualTerms terms(Risk{&loss, y, C});
  std::vector<double> values = outputs;
  terms.OutputsToGradient(beta, values);
  EXPECT_DOUBLE_EQ(values[0], 0.5 - 1 + 0.25 / 0.5);
  terms.GradientToOutputs(beta, values);
  EXPECT_DOUBLE_EQ(values[0], outputs[0]);
  EXPECT_DOUBLE_EQ(values[1], outputs[1]);
}

}  // namespace
}  // namespace kweave
