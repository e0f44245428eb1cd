#include "qp/joint_standing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/dot.h"
#include "base/random.h"
#include "loss/hinge.h"
#include "loss/squared.h"

namespace kweave {
namespace {

class JointStandingTest : public ::testing::Test {
 protected:
  static constexpr Index kSamples = 70, kClasses = 5;

  JointStandingTest() {
    for (Index i = 0; i < kSamples; ++i) {
      y_.push_back(i % kClasses);
      C_.push_back(0.2 + random_.Uniform());
    }
    risk_ = {&hinge_, y_, C_, kClasses, true};
    beta_ = Draw();
    outputs_ = Draw();
    risk_.MakeFeasible(beta_);
    for (Index u = 0; u < kClasses; ++u) all_.push_back(u);
  }

  std::vector<double> Draw() {
    std::vector<double> values(kSamples * kClasses);
    for (double& value : values) value = 2 * random_.Uniform() - 1;
    return values;
  }

  // By how much the sample violates, class by class.
  double Violation(Index i, std::span<const double> biases) const {
    double most = -std::numeric_limits<double>::infinity();
    const auto g = [&](Index u) {
      return outputs_[risk_.At(i, u)] - (u == y_[static_cast<std::size_t>(i)] ? 1 : 0) +
             biases[static_cast<std::size_t>(u)];
    };
    for (Index u = 0; u < kClasses; ++u) {
      if (!(beta_[risk_.At(i, u)] < risk_.Cap(i, u))) continue;
      for (Index v = 0; v < kClasses; ++v) most = std::max(most, g(v) - g(u));
    }
    return most;
  }

  Random random_{5};
  HingeLoss hinge_;
  std::vector<Index> y_, all_;
  std::vector<double> C_, beta_, outputs_;
  JointRisk risk_;
};

TEST_F(JointStandingTest, BoundsAndViolationsAreThoseOfPlainLoops) {
  JointStanding standing(risk_, beta_, nullptr);
  standing.Measure(outputs_, all_);
  const std::vector<double>& biases = standing.potentials().biases;
  const double product = Dot(beta_, outputs_);
  EXPECT_NEAR(standing.dual(), risk_.Dual(beta_) - 0.5 * product, 1e-12);
  const std::vector<Interval> margins = risk_.Margins(outputs_, biases);
  const double scale = risk_.BestScale(margins, product);
  EXPECT_NEAR(standing.primal(), 0.5 * scale * scale * product + risk_.ValueAt(margins, scale), 1e-12);
  for (Index i = 0; i < kSamples; ++i) {
    EXPECT_NEAR(standing.violations()[static_cast<std::size_t>(i)], Violation(i, biases), 1e-12);
  }
}

TEST_F(JointStandingTest, BoundsOfALossThatGrowsOnEitherSideAreThoseOfItsRisk) {
  const SquaredLoss squared;
  risk_.loss = &squared;
  beta_ = Draw();
  risk_.MakeFeasible(beta_);
  JointStanding standing(risk_, beta_, nullptr);
  standing.Measure(outputs_, all_);
  const double product = Dot(beta_, outputs_);
  EXPECT_NEAR(standing.dual(), risk_.Dual(beta_) - 0.5 * product, 1e-12);
  const std::vector<Interval> margins = risk_.Margins(outputs_, standing.potentials().biases);
  const double scale = risk_.BestScale(margins, product);
  EXPECT_NEAR(standing.primal(), 0.5 * scale * scale * product + risk_.ValueAt(margins, scale), 1e-11);
}

TEST_F(JointStandingTest, TellsWhoseStepsTheWorstCycleConsistsOf) {
  JointStanding standing(risk_, beta_, nullptr);
  standing.Measure(outputs_, all_);
  const std::vector<Index>& cycle = standing.potentials().cycle;
  ASSERT_GE(cycle.size(), 2u);
  double length = 0;
  for (std::size_t e = 0; e < cycle.size(); ++e) {
    const Index up = cycle[e], down = cycle[(e + 1) % cycle.size()];
    const Index i = standing.SampleFor(up, down);
    ASSERT_GE(i, 0);
    EXPECT_LT(beta_[risk_.At(i, up)], risk_.Cap(i, up));
    length += standing.Gradient(i)[static_cast<std::size_t>(up)] -
              standing.Gradient(i)[static_cast<std::size_t>(down)];
  }
  EXPECT_NEAR(-length / static_cast<double>(cycle.size()), standing.potentials().excess, 1e-12);
}

// What moved is all that has to be told.
TEST_F(JointStandingTest, FollowsChangesOfFewClassesAndSamples) {
  JointStanding standing(risk_, beta_, nullptr);
  standing.Measure(outputs_, all_);
  for (Index i = 0; i < kSamples; ++i) outputs_[risk_.At(i, 2)] += 0.1 * static_cast<double>(i % 3);
  std::vector<double> row(kClasses);
  for (Index u = 0; u < kClasses; ++u) {
    beta_[risk_.At(7, u)] *= 0.5;
    row[static_cast<std::size_t>(u)] = beta_[risk_.At(7, u)];
  }
  standing.Assign(7, row);
  const Index changed[] = {2};
  standing.Measure(outputs_, changed);
  JointStanding anew(risk_, beta_, nullptr);
  anew.Measure(outputs_, all_);
  EXPECT_NEAR(standing.dual(), anew.dual(), 1e-12);
  EXPECT_NEAR(standing.potentials().excess, anew.potentials().excess, 1e-12);
  for (Index i = 0; i < kSamples; ++i) {
    EXPECT_TRUE(std::ranges::equal(standing.Gradient(i), anew.Gradient(i)));
  }
}

}  // namespace
}  // namespace kweave
