#include "weights/models/bundle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/run_control.h"
#include "regularizer/bounded_norm.h"
#include "regularizer/lp_norm.h"
#include "tests/support/learn_reference.h"
#include "weights/models/fewer_kernels.h"
#include "weights/run/sample_machine.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::HingeRisk;
using testing::MatrixGram;
using testing::ReferenceProblem;

class BundleTest : public ::testing::Test {
 protected:
  BundleTest()
      : reference_(FindReferenceProblem("mixed_60")),
        gram_(reference_.matrices),
        problem_{HingeRisk(reference_), LpConstraint(1)},
        control_(context_),
        machine_(problem_, options_, control_),
        uniform_(reference_.matrices.size()),
        metric_(uniform_.size(), 1.0) {
    machine_.UseGram(gram_, false);
    LpNorm(1).Uniform(uniform_);
  }

  // Solves where kernel m has most of the weight.
  Evaluation SolveTowards(std::size_t m) {
    std::vector<double> theta = uniform_;
    theta[m] += 2;
    LpNorm(1).Normalize(theta);
    return machine_.Solve(theta, 1e-9);
  }

  // What the machine was just solved for.
  void Add(const Evaluation& at, Bundle& bundle) const { bundle.Add(at, machine_.expansion()); }

  Pull ToUniform(double rho) const { return {.rho = rho, .center = uniform_, .metric = metric_}; }

  const ReferenceProblem& reference_;
  MatrixGram gram_;
  const LearningProblem problem_;
  const Context context_;
  RunControl control_;
  LearnOptions options_;
  SampleMachine machine_;
  std::vector<double> uniform_, metric_;
};

TEST_F(BundleTest, TheModelLiesBelowJAndMeetsItWhereItWasSolved) {
  Bundle bundle;
  for (std::size_t m = 0; m < 5; ++m) {
    Add(SolveTowards(m), bundle);
    for (const double rho : {0.0, 0.01, 1.0, 1e4}) {
      const BundlePoint point = bundle.Minimize(ToUniform(rho), 1e-10);
      ASSERT_FALSE(point.theta.empty());
      const double here = machine_.Solve(point.theta, 1e-9).primal;
      EXPECT_LE(bundle.unit() * point.value, here * (1 + 1e-8)) << rho;
    }
  }
  Add(machine_.Solve(uniform_, 1e-9), bundle);
  const BundlePoint at_uniform = bundle.Minimize(ToUniform(1e6), 1e-10);
  const double there = machine_.Solve(at_uniform.theta, 1e-9).primal;
  EXPECT_NEAR(bundle.unit() * at_uniform.value, there, 1e-4 * there);
}

TEST_F(BundleTest, ColumnsLeftOutDoNotMatter) {
  Bundle bundle;
  for (std::size_t m = 0; m < 6; ++m) Add(SolveTowards(m), bundle);
  std::vector<double> vertex(uniform_.size(), 0.0);
  vertex[0] = 1;
  const Pull few{.rho = 0, .center = vertex, .metric = metric_};  // starts with few columns
  EXPECT_NEAR(bundle.Minimize(few, 1e-9).value, bundle.Minimize(ToUniform(0), 1e-9).value, 1e-7);
}

TEST_F(BundleTest, MeasuringAgainChangesNothingWhenTheKernelsDidNot) {
  Bundle bundle;
  for (std::size_t m = 0; m < 6; ++m) Add(SolveTowards(m), bundle);
  const BundlePoint before = bundle.Minimize(ToUniform(0), 1e-9);
  bundle.Mix(before.mixture);
  bundle.Measure(gram_);
  EXPECT_LE(bundle.size(), 6u);
  EXPECT_NEAR(bundle.Minimize(ToUniform(0), 1e-9).value, before.value, 1e-5);
}

TEST_F(BundleTest, MixturesAreAsGoodAsTheModelSays) {
  Bundle bundle;
  for (std::size_t m = 0; m < 6; ++m) Add(SolveTowards(m), bundle);
  const BundlePoint point = bundle.Minimize(ToUniform(0), 1e-9);
  const std::vector<double> beta = bundle.Mix(point.mixture);
  std::vector<double> q(uniform_.size());
  gram_.Expand(beta)->Quadratics(q);
  for (std::size_t m = 0; m < q.size(); ++m) {
    EXPECT_NEAR(bundle.unit() * point.quadratics[m], q[m], 1e-9 * bundle.unit());
  }
}

// Bounds as they come: all alike, some that leave no choice or none, and sums of upper ones below one.
std::vector<LinearWeights> Bounds(std::size_t kernels) {
  LinearWeights upper{.lower = std::vector<double>(kernels, 0.0), .upper = std::vector<double>(kernels, 0.1)};
  LinearWeights both{.lower = std::vector<double>(kernels, 0.5 / static_cast<double>(kernels)),
                     .upper = std::vector<double>(kernels, 0.2)};
  LinearWeights little = both, fixed = both, single = upper;
  for (double& value : little.upper) value = 0.7 / static_cast<double>(kernels);
  for (std::size_t m = 0; m < kernels; ++m)
    fixed.lower[m] = fixed.upper[m] = 1 / static_cast<double>(kernels);
  for (std::size_t m = 2; m < kernels; ++m) single.upper[m] = std::numeric_limits<double>::infinity();
  single.lower[0] = single.upper[0] = 0.05;
  return {upper, both, little, fixed, single};
}

TEST_F(BundleTest, BoundsAreKeptAndTheMinimumIsTheDualsMaximum) {
  for (const LinearWeights& bounds : Bounds(uniform_.size())) {
    const BoundedNorm norm(1, bounds.lower, bounds.upper);
    Bundle bundle;
    bundle.Limit(bounds);
    std::vector<double> start(uniform_.size());
    norm.Start(start);
    for (std::size_t m = 0; m < 6; ++m) {
      Add(SolveTowards(m), bundle);
      for (const double rho : {0.0, 0.01, 1.0}) {
        const BundlePoint point = bundle.Minimize({.rho = rho, .center = start, .metric = metric_}, 1e-10);
        ASSERT_FALSE(point.theta.empty());
        for (std::size_t k = 0; k < start.size(); ++k) {
          EXPECT_GE(point.theta[k], bounds.lower[k]);
          EXPECT_LE(point.theta[k], bounds.upper[k] * (1 + 1e-14));
        }
        EXPECT_LE(std::accumulate(point.theta.begin(), point.theta.end(), 0.0), 1 + 1e-12);
        const double here = machine_.Solve(point.theta, 1e-9).primal;
        EXPECT_LE(bundle.unit() * point.value, here * (1 + 1e-8)) << rho;
        if (rho == 0) {
          EXPECT_NEAR(point.value, point.linear - norm.DualTerm(point.quadratics), 1e-8);
        }
      }
    }
  }
}

// With a centre at the lower bounds the search starts with few columns.
TEST_F(BundleTest, ColumnsLeftOutDoNotMatterWithinBounds) {
  for (const LinearWeights& bounds : Bounds(uniform_.size())) {
    Bundle bundle;
    bundle.Limit(bounds);
    for (std::size_t m = 0; m < 4; ++m) Add(SolveTowards(m), bundle);
    const Pull few{.rho = 0, .center = bounds.lower, .metric = metric_};
    const BundlePoint point = bundle.Minimize(few, 1e-10);
    const BoundedNorm norm(1, bounds.lower, bounds.upper);
    EXPECT_NEAR(point.value, point.linear - norm.DualTerm(point.quadratics), 1e-8);
    EXPECT_NEAR(point.value, bundle.Minimize(ToUniform(0), 1e-10).value, 1e-8);
  }
}

// One beta is a plane, whose minimum is found without any solver.
TEST_F(BundleTest, TheSameBetaTwiceIsOnePlaneWithinBounds) {
  for (const LinearWeights& bounds : Bounds(uniform_.size())) {
    Bundle once, twice;
    once.Limit(bounds);
    twice.Limit(bounds);
    const Evaluation at = SolveTowards(3);
    Add(at, once);
    Add(at, twice);
    Add(at, twice);
    EXPECT_NEAR(twice.Minimize(ToUniform(0), 1e-10).value, once.Minimize(ToUniform(0), 1e-10).value, 1e-8);
  }
}

TEST_F(BundleTest, TrimmingMovesNoPlaneByMoreThanItMayAndKeepsTheBounds) {
  const std::size_t M = uniform_.size();
  const LinearWeights bounds{.lower = std::vector<double>(M, 0.1 / static_cast<double>(M)),
                             .upper = std::vector<double>(M, 3 / static_cast<double>(M))};
  Bundle bundle;
  bundle.Limit(bounds);
  const Evaluation at = SolveTowards(2);
  Add(at, bundle);
  std::vector<double> before(M);
  for (std::size_t m = 0; m < M; ++m) before[m] = bounds.lower[m] + (m % 2 == 0 ? 1e-9 : 0.01);
  for (const double tolerance : {1e-10, 1e-4}) {
    std::vector<double> theta = before;
    TrimWeights(bundle.planes(), bounds, tolerance, theta);
    double change = 0, sum = 0;
    for (std::size_t m = 0; m < M; ++m) {
      EXPECT_LE(theta[m], bounds.upper[m]);
      EXPECT_EQ(theta[m] == bounds.lower[m], tolerance == 1e-4 && m % 2 == 0);
      change += 0.5 * (theta[m] - before[m]) * at.quadratics[m];
      sum += theta[m] - before[m];
    }
    EXPECT_LE(std::abs(change), tolerance * bundle.unit());
    EXPECT_NEAR(sum, 0, 1e-14);
  }
}

TEST_F(BundleTest, ThinningKeepsTheSumAndMovesNoPlaneByMoreThanItMay) {
  Bundle bundle;
  std::vector<Evaluation> solves;
  for (std::size_t m = 0; m < 3; ++m) {
    solves.push_back(SolveTowards(m));
    Add(solves.back(), bundle);
  }
  for (const double sum : {1.0, 7.0}) {  // weights with a price have any
    std::vector<double> equal = uniform_;
    for (double& value : equal) value *= sum;
    for (const auto& [tolerance, merges] :
         {std::pair(1e-4, false), {1e-2, false}, {700.0, false}, {1e-4, true}, {1e-2, true}, {700.0, true}}) {
      std::vector<double> theta = equal;
      if (merges) {
        MergeWeights(bundle.planes(), tolerance, theta);
      } else {
        ThinWeights(bundle.products(), tolerance, theta);
      }
      EXPECT_NEAR(std::accumulate(theta.begin(), theta.end(), 0.0), sum, 1e-12 * sum);
      for (const Evaluation& solve : solves) {
        double change = 0;
        for (std::size_t m = 0; m < theta.size(); ++m) {
          change += 0.5 * (theta[m] - equal[m]) * solve.quadratics[m];
        }
        EXPECT_LE(std::abs(change), 2 * tolerance * bundle.unit());
      }
      if (tolerance == 700) {
        EXPECT_EQ(std::count_if(theta.begin(), theta.end(), [](double v) { return v > 0; }), 1);
      }
    }
  }
}

}  // namespace
}  // namespace kweave
