// What every regulariser must hold, whatever its formulas.
#include "regularizer/regularizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/constants.h"
#include "base/dot.h"
#include "base/random.h"
#include "kweave/error.h"
#include "regularizer/bounded_norm.h"
#include "regularizer/elastic_norm.h"
#include "regularizer/entropy.h"
#include "regularizer/lp_penalty.h"
#include "regularizer/matrix_norm.h"
#include "regularizer/mixed_norm.h"
#include "regularizer/nonnegative_qp.h"
#include "regularizer/norm_penalty.h"

namespace kweave {
namespace {

constexpr std::size_t kKernels = 6;
const std::vector<int> kGroups = {0, 0, 1, 1, 1, 2};

std::vector<double> RandomVector(Random& random, std::size_t size, double from, double to) {
  std::vector<double> x(size);
  for (double& value : x) value = from + (to - from) * random.Uniform();
  return x;
}

// A' A + 1/10 I, with entries of both signs.
std::vector<double> RandomDefinite(Random& random, std::size_t side) {
  const std::vector<double> A = RandomVector(random, side * side, -1, 1);
  std::vector<double> E(side * side, 0.0);
  for (std::size_t i = 0; i < side; ++i) {
    for (std::size_t j = 0; j < side; ++j) {
      for (std::size_t k = 0; k < side; ++k) E[i * side + j] += A[k * side + i] * A[k * side + j];
    }
    E[i * side + i] += 0.1;
  }
  return E;
}

std::vector<RegularizerPointer> Regularizers() {
  std::vector<RegularizerPointer> all;
  for (const double p : {1.0, 1.1, 2.0, 4.0, kInfinity}) {
    all.push_back(LpConstraint(p));
    if (p > 1) all.push_back(std::make_shared<LpPenalty>(0.7, p));
    for (const double q : {1.0, 1.5, 2.0, 3.0, kInfinity})
      all.push_back(std::make_shared<MixedNorm>(kGroups, p, q));
  }
  Random random(11);
  all.push_back(std::make_shared<WeightMatrixNorm>(RandomDefinite(random, kKernels)));
  all.push_back(std::make_shared<PartMatrixNorm>(RandomDefinite(random, kKernels)));
  for (const double mu : {0.1, 2.0}) {
    all.push_back(std::make_shared<EntropyPenalty>(mu));
    for (const double P : {1.0, 1.5, 2.0}) {
      for (const double Q : {1.2, 2.0})
        all.push_back(std::make_shared<NormPenalty>(mu, MixedNorm(kGroups, P, Q)));
    }
  }
  for (const double share : {0.1, 0.5, 1.0}) all.push_back(std::make_shared<ElasticNorm>(share));
  for (const double p : {1.0, 1.5, 2.0, kInfinity}) {
    all.push_back(std::make_shared<BoundedNorm>(p, std::vector<double>{0.1, 0, 0, 0.2, 0, 0},
                                                std::vector<double>{0.3, 1, 0.2, 1, 1, 0.05}));
  }
  return all;
}

// Primal(theta, q) + DualTerm(q') >= u' sqrt(q') for all theta and q (Fenchel), with equality at the best
// response.
TEST(Regularizer, DualTermIsTheConjugate) {
  Random random(1);
  for (const RegularizerPointer& regularizer : Regularizers()) {
    SCOPED_TRACE(regularizer->Name());
    for (int trial = 0; trial < 40; ++trial) {
      const std::vector<double> q = RandomVector(random, kKernels, 0.05, 3);
      std::vector<double> theta(kKernels);
      regularizer->BestResponse(q, theta);
      const double dual = regularizer->DualTerm(q);
      // With theta the best response to q the part u_m = theta_m sqrt(q_m): u' sqrt(q) = theta' q.
      EXPECT_NEAR(regularizer->Primal(theta, q) + dual, Dot(theta, q), 1e-9 * (1 + dual));
      const std::vector<double> other_q = RandomVector(random, kKernels, 0, 3);
      std::vector<double> other = RandomVector(random, kKernels, 0, 2);
      regularizer->MakeFeasible(other);
      double product = 0;
      for (std::size_t m = 0; m < kKernels; ++m) product += other[m] * std::sqrt(other_q[m] * q[m]);
      EXPECT_GE(regularizer->Primal(other, other_q) + dual, product * (1 - 1e-12));
    }
  }
}

void ExpectGradient(const Regularizer& regularizer, std::vector<double> q) {
  SCOPED_TRACE(regularizer.Name());
  std::vector<double> theta(q.size());
  regularizer.BestResponse(q, theta);
  for (std::size_t m = 0; m < q.size(); ++m) {
    const double kept = q[m], step = 1e-6;
    q[m] = kept + step;
    const double above = regularizer.DualTerm(q);
    q[m] = kept - step;
    const double below = regularizer.DualTerm(q);
    q[m] = kept;
    EXPECT_NEAR((above - below) / step, theta[m], 2e-5 * (1 + theta[m]));
  }
}

TEST(Regularizer, BestResponseIsTwiceTheGradientOfTheDualTerm) {
  Random random(2);
  for (const RegularizerPointer& regularizer : Regularizers()) {
    const RegularizerPointer smooth =
        regularizer->is_dual_smooth() ? regularizer : regularizer->Smoothed(0.1);
    if (smooth != nullptr) ExpectGradient(*smooth, RandomVector(random, kKernels, 0.5, 2));
  }
}

// Inside by central differences; at 0, where the value is smooth there, by one-sided ones of second order.
TEST(Regularizer, GradientIsThatOfTheValue) {
  Random random(3);
  std::vector<RegularizerPointer> penalties = {
      std::make_shared<EntropyPenalty>(0.4), std::make_shared<NormPenalty>(0.4, MixedNorm(kGroups, 1.2, 1.6)),
      std::make_shared<NormPenalty>(0.4, MixedNorm(kGroups, 1, 1.5)),
      std::make_shared<NormPenalty>(0.4, MixedNorm(kGroups, 1.5, 1.9))};
  for (const double p : {1.0, 1.3, 2.0, 5.0}) penalties.push_back(std::make_shared<LpPenalty>(0.4, p));
  for (const RegularizerPointer& penalty : penalties) {
    SCOPED_TRACE(penalty->Name());
    const std::vector<double> inside = RandomVector(random, kKernels, 0.2, 1);
    std::vector<double> gradient(kKernels);
    const auto value_at = [&](std::vector<double> theta, std::size_t m, double value) {
      theta[m] = value;
      return penalty->Value(theta);
    };
    penalty->Gradient(inside, gradient);
    constexpr double kStep = 1e-5;
    for (std::size_t m = 0; m < kKernels; ++m) {
      const double above = value_at(inside, m, inside[m] + kStep),
                   below = value_at(inside, m, inside[m] - kStep);
      EXPECT_NEAR((above - below) / (2 * kStep), gradient[m], 1e-6 * (1 + std::abs(gradient[m])));
    }
    const auto* lp = dynamic_cast<const LpPenalty*>(penalty.get());
    if (lp == nullptr || penalty->Name().ends_with("norm 1.3")) continue;  // theirs is not smooth at 0
    for (std::size_t m = 0; m < kKernels; ++m) {
      std::vector<double> border = inside;
      border[m] = 0;
      penalty->Gradient(border, gradient);
      const double difference =
          (4 * value_at(border, m, kStep) - value_at(border, m, 2 * kStep) - 3 * value_at(border, m, 0)) /
          (2 * kStep);
      EXPECT_NEAR(difference, gradient[m], 1e-6);
    }
  }
}

TEST(Regularizer, AnalyticUpdateMinimisesItsBound) {
  Random random(4);
  for (const RegularizerPointer& regularizer : Regularizers()) {
    if (!regularizer->has_analytic_update() || !regularizer->is_minimized()) continue;
    SCOPED_TRACE(regularizer->Name());
    const std::vector<double> theta = RandomVector(random, kKernels, 0.1, 1),
                              q = RandomVector(random, kKernels, 0.1, 3);
    const auto bound = [&](const std::vector<double>& at) {
      double sum = regularizer->Value(at);
      for (std::size_t m = 0; m < q.size(); ++m) sum += 0.5 * theta[m] * theta[m] * q[m] / at[m];
      return sum;
    };
    std::vector<double> updated(kKernels);
    regularizer->AnalyticUpdate(theta, q, updated);
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<double> other = updated;
      for (double& value : other) value *= 1 + 0.04 * (random.Uniform() - 0.5);
      regularizer->MakeFeasible(other);
      EXPECT_GE(bound(other), bound(updated) * (1 - 1e-12));
    }
    regularizer->MakeFeasible(updated);
    const std::vector<double> feasible = updated;
    regularizer->AnalyticUpdate(theta, q, updated);
    for (std::size_t m = 0; m < kKernels; ++m) EXPECT_NEAR(updated[m], feasible[m], 1e-12);
  }
}

// The nearest point x is the one with (v - x)' (z - x) <= 0 for all z of the set, in the metric; the worst z
// is the best response to v - x.
TEST(Regularizer, ProjectionsAreTheNearestPoints) {
  Random random(12);
  for (const RegularizerPointer& regularizer : Regularizers()) {
    if (!regularizer->has_projection() || regularizer->Value(std::vector<double>(kKernels, 0.5)) != 0)
      continue;
    SCOPED_TRACE(regularizer->Name());
    for (int trial = 0; trial < 60; ++trial) {
      const std::vector<double> v = RandomVector(random, kKernels, -0.5, trial % 2 == 0 ? 0.5 : 4);
      const std::vector<double> scales = RandomVector(random, kKernels, 0.02, 1);
      std::vector<double> x = v, feasible, pull(kKernels), worst(kKernels);
      regularizer->Project(x, scales);
      feasible = x;
      regularizer->MakeFeasible(feasible);
      for (std::size_t m = 0; m < kKernels; ++m) {
        EXPECT_NEAR(feasible[m], x[m], 1e-9);
        pull[m] = (v[m] - x[m]) / scales[m];
      }
      regularizer->BestResponse(pull, worst);
      EXPECT_LE(Dot(pull, worst) - Dot(pull, x), 1e-8 * (1 + std::abs(Dot(pull, x))));
    }
  }
}

TEST(Regularizer, StartIsFeasibleAndWithoutZeros) {
  for (const RegularizerPointer& regularizer : Regularizers()) {
    SCOPED_TRACE(regularizer->Name());
    std::vector<double> theta(kKernels);
    regularizer->Start(theta);
    for (const double value : theta) EXPECT_GT(value, 0);
    std::vector<double> feasible = theta;
    regularizer->MakeFeasible(feasible);
    for (std::size_t m = 0; m < kKernels; ++m) EXPECT_NEAR(theta[m], feasible[m], 1e-12);
  }
}

TEST(MixedNorm, OneGroupIsTheBlockNormAndSingleGroupsToo) {
  Random random(5);
  const std::vector<double> q = RandomVector(random, kKernels, 0.1, 3);
  for (const double P : {1.0, 1.2, 1.5, 2.0, 3.0, kInfinity}) {
    const RegularizerPointer block = BlockNorm(P, kKernels);
    const MixedNorm one(std::vector<int>(kKernels, 0), 1.7, P), single({0, 1, 2, 3, 4, 5}, P, 1.7);
    EXPECT_NEAR(one.DualTerm(q), block->DualTerm(q), 1e-12) << P;
    EXPECT_NEAR(single.DualTerm(q), block->DualTerm(q), 1e-12) << P;
  }
}

TEST(MixedNorm, WeightsAreThoseOfTheirGroupTimesOnesOfNormOne) {
  const std::vector<double> theta = {0.1, 0.3, 0.2, 0.1, 0.05, 0.4};
  for (const double Q : {1.0, 1.5, 2.0, 4.0, kInfinity}) {
    const MixedNorm norm(kGroups, 1.5, Q);
    const std::vector<double> weights = norm.GroupWeights(theta);
    EXPECT_NEAR(weights[2], 0.4, 1e-12);  // alone in its group
    const double exponent = Q / (2 - Q);
    if (!std::isfinite(exponent) || Q == kInfinity) continue;
    EXPECT_NEAR(std::pow(0.1 / weights[0], exponent) + std::pow(0.3 / weights[0], exponent), 1, 1e-12) << Q;
  }
}

TEST(Regularizer, SmoothedLiesAsNearAsAskedFor) {
  Random random(6);
  const MixedNorm sparse(kGroups, 1, 1), groups(kGroups, 1, 2), dense(kGroups, kInfinity, kInfinity);
  const PartMatrixNorm matrix(RandomDefinite(random, kKernels));
  for (const Regularizer* norm :
       std::initializer_list<const Regularizer*>{&sparse, &groups, &dense, &matrix}) {
    for (const double error : {1e-1, 1e-3, 1e-6}) {
      const std::vector<double> q = RandomVector(random, kKernels, 0.1, 3);
      const double smoothed = norm->Smoothed(error)->DualTerm(q);
      EXPECT_GE(smoothed, norm->DualTerm(q) * (1 - 1e-12));
      EXPECT_LE(smoothed, norm->DualTerm(q) * (1 + 4 * error));
    }
  }
}

TEST(LpPenalty, DualTermOfTheSumIsAnIndicator) {
  const LpPenalty penalty(0.5, 1);
  EXPECT_EQ(penalty.DualTerm(std::vector<double>{1, 0.2, -3}), 0);
  EXPECT_EQ(penalty.DualTerm(std::vector<double>{1.1, 0.2}), kInfinity);
  // s^2 4 <= 1: half of beta is what is left.
  EXPECT_NEAR(LowerBound(penalty, 3, std::vector<double>{4, 0.2}, true), 1.5, 1e-10);
  EXPECT_THROW(LpPenalty(0, 2), Error);
}

TEST(SolveNonnegative, MeetsTheOptimalityConditions) {
  Random random(7);
  for (const std::size_t side : {1u, 2u, 7u, 40u}) {
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<double> E = RandomDefinite(random, side), c = RandomVector(random, side, -1, 1);
      const std::vector<double> x = SolveNonnegative(E, c);
      for (std::size_t m = 0; m < side; ++m) {
        const double slope = Dot(std::span(E).subspan(m * side, side), x) - c[m];
        EXPECT_GE(x[m], 0);
        EXPECT_GE(slope, -1e-9);
        EXPECT_NEAR(slope * x[m], 0, 1e-8);
      }
    }
  }
}

TEST(MatrixNorm, RefusesWhatIsNoNorm) {
  EXPECT_THROW(WeightMatrixNorm({1, 2, 2, 1}), Error);    // indefinite
  EXPECT_THROW(PartMatrixNorm({1, 0.2, 0.1, 1}), Error);  // not symmetric
  EXPECT_THROW(LaplacianMatrix(std::vector<double>{0, -1, -1, 0}, 2, 0.1), Error);
  const std::vector<double> expected = {1.1, -1, -1, 1.1};
  EXPECT_EQ(LaplacianMatrix(std::vector<double>{0, 1, 1, 0}, 2, 0.1), expected);
}

// What is left of the parts makes the dual term: sum of u_m sqrt(q_m) - R is as large as it gets where all
// reach their length.
TEST(MixedNorm, ShortenedPartsAreAsLongAsTheQuadraticsSay) {
  const std::vector<double> q = {4, 1, 0.25, 9, 1e-4};
  for (const double P : {2.0, 4.0, kInfinity}) {
    for (const double Q : {2.0, kInfinity}) {
      const MixedNorm norm({0, 0, 1, 1, 1}, P, Q);
      std::vector<double> theta(q.size()), longer(q.size());
      norm.BestResponse(q, theta);
      for (std::size_t m = 0; m < q.size(); ++m) longer[m] = theta[m] * (1.5 + static_cast<double>(m));
      const bool is_maximum = std::isinf(P) || std::isinf(Q);
      EXPECT_EQ(norm.Shorten(q, longer), is_maximum);
      if (!is_maximum) continue;
      EXPECT_NEAR(norm.Primal(longer, q), norm.DualTerm(q), 1e-9 * norm.DualTerm(q));
      EXPECT_FALSE(norm.Shorten(q, theta) && norm.Primal(theta, q) < (1 - 1e-9) * norm.DualTerm(q));
    }
  }
}

}  // namespace
}  // namespace kweave
