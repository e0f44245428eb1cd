#include "loss/joint_risk.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "loss/epsilon_insensitive.h"
#include "loss/hinge.h"
#include "loss/logistic.h"
#include "loss/squared.h"
#include "loss/squared_hinge.h"

namespace kweave {
namespace {

class JointRiskTest : public ::testing::Test {
 protected:
  static constexpr Index kSamples = 30, kClasses = 4;

  JointRiskTest() {
    for (Index i = 0; i < kSamples; ++i) {
      y_.push_back(i % kClasses);
      C_.push_back(0.1 + random_.Uniform());
    }
  }
  JointRisk risk(const Loss& loss, bool has_bias = true) const { return {&loss, y_, C_, kClasses, has_bias}; }
  std::vector<double> Draw(std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = 3 * random_.Uniform() - 1.5;
    return values;
  }

  Random random_{3};
  std::vector<Index> y_;
  std::vector<double> C_;
};

// No factor of a fine grid serves better than those that were found.
TEST_F(JointRiskTest, FindsTheFactorsThatServeBothBoundsBest) {
  const HingeLoss hinge;
  const LogisticLoss logistic;
  const SquaredLoss two_sided;
  for (const Loss* loss : {static_cast<const Loss*>(&hinge), static_cast<const Loss*>(&logistic),
                           static_cast<const Loss*>(&two_sided)}) {
    const JointRisk risk = this->risk(*loss);
    std::vector<double> beta = Draw(kSamples * kClasses);
    std::vector<Interval> margins;
    for (const double margin : Draw(kSamples)) margins.push_back({0.8 + 0.1 * margin, 0.9 + 0.1 * margin});
    risk.MakeFeasible(beta);
    for (double& value : beta) value *= 0.4;
    for (const double square : {0.1, 1.0, 10.0, 100.0}) {
      const auto primal = [&](double s) { return 0.5 * s * s * square + risk.ValueAt(margins, s); };
      const auto dual = [&](double s) {
        std::vector<double> scaled = beta;
        for (double& value : scaled) value *= s;
        return risk.Dual(scaled) - 0.5 * s * s * square;
      };
      const double scale = risk.BestScale(margins, square), dual_scale = risk.BestDualScale(beta, square);
      EXPECT_GE(scale, 0.5);
      EXPECT_LE(scale, 2);
      for (Index i = 0; i < kSamples; ++i) {
        const Index own = y_[static_cast<std::size_t>(i)];
        EXPECT_LE(dual_scale * beta[risk.At(i, own)], risk.Cap(i, own) * (1 + 1e-15));
      }
      for (double s = 0.5; s < 2; s += 0.01) EXPECT_LE(primal(scale), primal(s) * (1 + 1e-7));
      for (double s = 0; s < 1; s += 0.01) EXPECT_GE(dual(dual_scale), dual(s) - 1e-7);
    }
  }
}

TEST_F(JointRiskTest, MakesAnythingFeasible) {
  const HingeLoss hinge;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> beta = Draw(kSamples * kClasses);
    const JointRisk risk = this->risk(hinge);
    risk.MakeFeasible(beta);
    std::vector<double> sums(kClasses, 0.0);
    for (Index i = 0; i < kSamples; ++i) {
      double sum = 0;
      for (Index u = 0; u < kClasses; ++u) {
        const double value = beta[risk.At(i, u)];
        EXPECT_LE(value, risk.Cap(i, u));
        sum += value;
        sums[static_cast<std::size_t>(u)] += value;
      }
      EXPECT_NEAR(sum, 0, 1e-13);
    }
    for (const double sum : sums) EXPECT_NEAR(sum, 0, 1e-13);
    std::vector<double> again = beta;
    risk.MakeFeasible(again);
    for (std::size_t k = 0; k < beta.size(); ++k) EXPECT_NEAR(again[k], beta[k], 1e-14);
  }
}

// Value(f, b) + beta' f is never below Dual(beta).
TEST_F(JointRiskTest, DualTermBoundsTheLosses) {
  const HingeLoss hinge;
  const SquaredHingeLoss squared;
  const LogisticLoss logistic;
  const SquaredLoss two_sided;
  for (const Loss* loss : {static_cast<const Loss*>(&hinge), static_cast<const Loss*>(&squared),
                           static_cast<const Loss*>(&logistic), static_cast<const Loss*>(&two_sided)}) {
    const JointRisk risk = this->risk(*loss);
    for (int trial = 0; trial < 50; ++trial) {
      std::vector<double> beta = Draw(kSamples * kClasses);
      risk.MakeFeasible(beta);
      const std::vector<double> f = Draw(kSamples * kClasses), biases = Draw(kClasses);
      double product = 0;
      for (std::size_t k = 0; k < f.size(); ++k) product += beta[k] * f[k];
      EXPECT_GE(risk.Value(f, biases) + product, risk.Dual(beta) - 1e-12);
    }
  }
}

TEST_F(JointRiskTest, SlopesOfATwoSidedLossAreThoseOfItsDualTerm) {
  const SquaredLoss loss;
  const JointRisk risk = this->risk(loss);
  constexpr double kStep = 1e-6;
  for (Index i = 0; i < kSamples; ++i) {
    std::vector<double> beta = Draw(kClasses);
    const auto own = static_cast<std::size_t>(y_[static_cast<std::size_t>(i)]);
    beta[(own + 1) % kClasses] = 0;  // a corner
    const auto negative_dual = [&](std::size_t u, double change) {
      std::vector<double> moved = beta;
      moved[u] += change;
      double magnitude = 0;
      for (std::size_t v = 0; v < moved.size(); ++v) magnitude += v == own ? 0 : std::abs(moved[v]);
      return -risk.DualOf(i, moved[own], magnitude);
    };
    std::vector<double> gradient(kClasses, 0.0), raise(kClasses), lower(kClasses);
    gradient[own] -= risk.OwnSlope(i, beta[own]);
    risk.FindSlopes(i, beta, gradient, raise, lower);
    for (std::size_t u = 0; u < beta.size(); ++u) {
      EXPECT_NEAR(raise[u], (negative_dual(u, kStep) - negative_dual(u, 0)) / kStep, 1e-4);
      EXPECT_NEAR(lower[u], (negative_dual(u, 0) - negative_dual(u, -kStep)) / kStep, 1e-4);
    }
    EXPECT_GT(raise[(own + 1) % kClasses], lower[(own + 1) % kClasses]);
  }
}

// The loss of the margin farthest from 1; the dual term meets it where beta is its slope.
TEST_F(JointRiskTest, TwoSidedLossIsMetByItsDualTerm) {
  const SquaredLoss loss;
  const JointRisk risk = this->risk(loss, false);
  const std::vector<double> f = Draw(kSamples * kClasses), biases(kClasses, 0.0);
  std::vector<double> beta(f.size(), 0.0);
  double product = 0;
  for (Index i = 0; i < kSamples; ++i) {
    const Index own = y_[static_cast<std::size_t>(i)];
    Index worst = own;
    double off = 0;
    for (Index u = 0; u < kClasses; ++u) {
      const double error = 1 - (f[risk.At(i, own)] - f[risk.At(i, u)]);
      if (u != own && std::abs(error) > std::abs(off)) {
        worst = u;
        off = error;
      }
    }
    const double slope = C_[static_cast<std::size_t>(i)] * off;
    beta[risk.At(i, own)] = slope;
    beta[risk.At(i, worst)] = -slope;
    product += slope * (f[risk.At(i, own)] - f[risk.At(i, worst)]);
  }
  EXPECT_NEAR(risk.Value(f, biases) + product, risk.Dual(beta), 1e-12);
}

TEST_F(JointRiskTest, KnowsTheLossesItServes) {
  EXPECT_TRUE(ServesJoint(HingeLoss()));
  EXPECT_TRUE(ServesJoint(SquaredHingeLoss()));
  EXPECT_TRUE(ServesJoint(LogisticLoss()));
  EXPECT_TRUE(ServesJoint(SquaredLoss()));
  EXPECT_FALSE(ServesJoint(EpsilonInsensitiveLoss(0.1)));
}

}  // namespace
}  // namespace kweave
