#include "kweave/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/constants.h"
#include "kweave/error.h"

namespace kweave {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

double Norm(const std::vector<double>& x, double P) {
  double sum = 0;
  for (const double value : x) sum += std::pow(value, P);
  return std::pow(sum, 1 / P);
}

// The minimum over t as the formula has it, on a fine grid of t*.
template <class Term>
double LeastOverConjugates(double from, double to, Term term) {
  double least = kInfinity;
  for (int k = 0; k <= 20000; ++k) least = std::min(least, term(from * std::pow(to / from, k / 20000.0)));
  return least;
}

std::vector<double> PowerLaw(int parts, double exponent) {
  std::vector<double> norms;
  for (int m = 1; m <= parts; ++m) norms.push_back(std::pow(m, -exponent));
  return norms;
}

TEST(Bounds, GlobalFactorIsTheMinimumOverAllLargerNorms) {
  for (const int parts : {1, 2, 12, 1000}) {
    const std::vector<double> norms = PowerLaw(parts, 0.7);
    for (const double P : {1.0, 1.01, 1.2, 4.0 / 3, 2.0, 4.0, 50.0}) {
      const double conjugate = P == 1 ? 1e4 : P / (P - 1), norm = Norm(norms, P);
      const double least = LeastOverConjugates(
          1, conjugate, [&](double s) { return std::sqrt(s) * std::pow(parts, 1 / s) * norm; });
      EXPECT_NEAR(GlobalBoundFactor(norms, P), least, 1e-6 * least) << parts << " parts, P = " << P;
    }
    EXPECT_THAT(GlobalBoundFactor(norms, kInfinity), DoubleEq(parts * 1.0));
  }
}

TEST(Bounds, LocalFactorIsTheMinimumUpToTwo) {
  for (const int parts : {3, 1000}) {
    const std::vector<double> norms = PowerLaw(parts, 1);
    for (const double P : {1.0, 1.2, 4.0 / 3, 2.0}) {
      const double conjugate = P == 1 ? 1e4 : P / (P - 1), power = 2.0 / 3, norm = Norm(norms, P);
      const double least = LeastOverConjugates(2, conjugate, [&](double s) {
        return std::pow(s * norm, power) * std::pow(parts, 1 + power * (1 / s - 1));
      });
      EXPECT_NEAR(LocalBoundFactor(norms, P, 2), least, 1e-6 * least) << parts << " parts, P = " << P;
    }
  }
}

// Figure 4.2: for 1,000 parts m^-b the best P grows from about 1.2 to 2 as b falls from 2 to 1/2.
TEST(Bounds, BestNormFollowsSoftSparsity) {
  const auto best = [](double exponent) {
    const std::vector<double> norms = PowerLaw(1000, exponent);
    double best_norm = 1;
    for (double P = 1; P <= 2; P += 0.01) {
      if (LocalBoundFactor(norms, P, 2) < LocalBoundFactor(norms, best_norm, 2)) best_norm = P;
    }
    return best_norm;
  };
  EXPECT_NEAR(best(2), 1.2, 0.06);
  EXPECT_NEAR(best(1), 1.4, 0.06);
  EXPECT_NEAR(best(0.5), 2, 0.02);
}

TEST(Bounds, CurveFindsOneSparseAndOneDenseFunction) {
  std::vector<double> sparse(50, 0.0);
  sparse[3] = 2;
  EXPECT_EQ(GlobalBoundCurve(sparse).best_block_norm, 1);
  EXPECT_EQ(GlobalBoundCurve(std::vector<double>(50, 1.0)).best_block_norm, 4);
  EXPECT_NE(GlobalBoundCurve(sparse).ToText().find("smallest at 1"), std::string::npos);
}

TEST(Bounds, PartsComeFromWeightsAndQuadraticsOrTheirMedians) {
  Summary summary;
  summary.kernels = {{"a", 0.5, 16}, {"b", 2, 9}, {"c", 1, -1e-9}};
  summary.kernels_total = 4;
  EXPECT_THAT(PartNorms(summary), ElementsAre(2, 6, 0, 0));
  for (const double weight : {1.0, 3.0, 2.0}) {
    MachineReport& machine = summary.machines.emplace_back();
    machine.weights = {weight, 0, 1};
    machine.quadratics = {4, 4, weight * weight};
  }
  EXPECT_THAT(PartNorms(summary), ElementsAre(4, 0, 2, 0));
}

TEST(Bounds, RefuseWhatHasNoBound) {
  const std::vector<double> norms = {1, 2};
  EXPECT_THROW(GlobalBoundFactor(norms, 0.5), Error);
  EXPECT_THROW(GlobalBoundFactor({}, 2), Error);
  EXPECT_THROW(LocalBoundFactor(norms, 2.5, 2), Error);
  EXPECT_THROW(LocalBoundFactor(norms, 2, 0), Error);
  EXPECT_THROW(GlobalBoundCurve(norms, 1), Error);
}

}  // namespace
}  // namespace kweave
