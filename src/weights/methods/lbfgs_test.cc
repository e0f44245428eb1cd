#include "weights/methods/lbfgs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kweave/error.h"
#include "loss/logistic.h"
#include "loss/squared.h"
#include "loss/squared_hinge.h"
#include "tests/support/learn_reference.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::Learn;
using testing::ReferenceProblem;
using testing::WithMethod;

Risk RiskOf(const Loss& loss, const ReferenceProblem& problem) { return {&loss, problem.y, problem.upper}; }

TEST(Lbfgs, ItsBoundsNeverGetWorse) {
  const SquaredHingeLoss loss;
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  const Learned learned = Learn(problem.matrices, RiskOf(loss, problem), 1.5, WithMethod("lbfgs", 1e-9));
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_EQ(learned.solves, 1);
  ASSERT_EQ(learned.history.size(), static_cast<std::size_t>(learned.iterations) + 1);
  for (std::size_t k = 1; k < learned.history.size(); ++k) {
    EXPECT_LE(learned.history[k].primal, learned.history[k - 1].primal);
    EXPECT_GE(learned.history[k].dual, learned.history[k - 1].dual);
  }
}

// The nearer to 1, the more the largest quadratic counts alone.
TEST(Lbfgs, ServesNormsCloseToOne) {
  const LogisticLoss loss;
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  for (const double norm : {1.2, 1.05, 1.01}) {
    const Learned learned = Learn(problem.matrices, RiskOf(loss, problem), norm, WithMethod("lbfgs", 1e-6));
    EXPECT_EQ(learned.status, Status::kConverged) << norm;
    EXPECT_LE(learned.certificate.relative_gap, 1e-6) << norm;
  }
}

TEST(Lbfgs, WhatALimitLeavesIsCertified) {
  const SquaredLoss loss;
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  LearnOptions options = WithMethod("lbfgs", 1e-9);
  options.max_iterations = 3;
  const Learned learned = Learn(problem.matrices, RiskOf(loss, problem), 2, options);
  EXPECT_EQ(learned.status, Status::kIterationLimit);
  EXPECT_EQ(learned.iterations, 3);
  EXPECT_TRUE(std::isfinite(learned.certificate.gap));
  EXPECT_GT(learned.certificate.relative_gap, 1e-9);
}

// Nothing to learn from: beta stays zero, and no kernel gets a weight.
TEST(Lbfgs, TargetsThatAreAllAlikeNeedTheBiasOnly) {
  const SquaredLoss loss;
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  const std::vector<double> y(problem.y.size(), 3);
  const Learned learned = Learn(problem.matrices, {&loss, y, problem.upper}, 2, WithMethod("lbfgs", 1e-6));
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_NEAR(learned.certificate.bias, 3, 1e-12);
}

TEST(Lbfgs, StartsWhereItIsTold) {
  const SquaredHingeLoss loss;
  const ReferenceProblem& problem = FindReferenceProblem("each_8_sample_costs");
  const LearnOptions cold = WithMethod("lbfgs", 1e-6);
  const Learned first = Learn(problem.matrices, RiskOf(loss, problem), 2, cold);
  const WarmStart start{first.theta, first.beta};
  LearnOptions warm = cold;
  warm.start = &start;
  const Learned again = Learn(problem.matrices, RiskOf(loss, problem), 2, warm);
  EXPECT_EQ(again.status, Status::kConverged);
  EXPECT_LE(2 * again.iterations, first.iterations);
}

TEST(Lbfgs, HasNoWrapper) {
  const SquaredLoss loss;
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  LearnOptions options = WithMethod("lbfgs", 1e-3);
  options.driver = DriverKind::kWrapper;
  EXPECT_THROW(Learn(problem.matrices, RiskOf(loss, problem), 2, options), Error);
}

}  // namespace
}  // namespace kweave
