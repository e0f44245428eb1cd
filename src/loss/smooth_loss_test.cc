#include "loss/smooth_loss.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "loss/hinge.h"
#include "loss/logistic.h"
#include "loss/squared.h"
#include "loss/squared_hinge.h"

namespace kweave {
namespace {

RC_GTEST_PROP(SmoothLossProperty, DerivativesAreThoseOfTheValue, ()) {
  for (const LossRecord& record : LossTable()) {
    const std::unique_ptr<Loss> loss = record.make({});
    if (!loss->smooth()) continue;
    const double y = *rc::gen::element(-1.0, 1.0);
    // Between the corners that a second derivative may have at f = 1 and f = -1.
    const double f = *rc::gen::inRange(-300, 300) / 100.0 + 0.005;
    constexpr double kStep = 1e-3;
    const double below = loss->Value(f - kStep, y), at = loss->Value(f, y), above = loss->Value(f + kStep, y);
    const LossDerivatives derivatives = loss->smooth()->DerivativesAt(f, y);
    RC_ASSERT(std::abs((above - below) / (2 * kStep) - derivatives.first) <= 1e-4);
    RC_ASSERT(std::abs((above - 2 * at + below) / (kStep * kStep) - derivatives.second) <= 1e-3);
    RC_ASSERT(derivatives.second >= 0);
  }
}

// The beta that belongs to f is feasible, and the dual touches the loss there.
RC_GTEST_PROP(SmoothLossProperty, TheDerivativeIsTheBestDualVariable, ()) {
  for (const LossRecord& record : LossTable()) {
    const std::unique_ptr<Loss> loss = record.make({});
    if (!loss->smooth()) continue;
    const double y = *rc::gen::element(-1.0, 1.0);
    const double C = *rc::gen::element(1e-6, 1.0, 1e6);
    const double f = *rc::gen::inRange(-100000, 100000) / 100.0;
    const double beta = -C * loss->smooth()->DerivativesAt(f, y).first;
    RC_ASSERT(loss->Feasible(y, C).lower <= beta && beta <= loss->Feasible(y, C).upper);
    const double value = C * loss->Value(f, y);
    RC_ASSERT(std::abs(value + beta * f - loss->Dual(beta, y, C)) <=
              1e-12 * (value + C + std::abs(beta * f)));
  }
}

RC_GTEST_PROP(SmoothLossProperty, BestBiasHasNoSlope, ()) {
  for (const LossRecord& record : LossTable()) {
    const std::unique_ptr<Loss> loss = record.make({});
    if (!loss->smooth()) continue;
    const std::size_t n = *rc::gen::inRange<std::size_t>(2, 30);
    const double scale = *rc::gen::element(1e-3, 1.0, 100.0);
    std::vector<double> f(n), y(n), C(n);
    for (std::size_t i = 0; i < n; ++i) {
      f[i] = scale * *rc::gen::inRange(-300, 300) / 100.0;
      y[i] = i % 2 == 0 ? 1 : -1;
      C[i] = *rc::gen::inRange(1, 50) / 10.0;
    }
    const double b = loss->BestBias(f, y, C, 0);
    double slope = 0, magnitude = 0, curvature = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const LossDerivatives at = loss->smooth()->DerivativesAt(f[i] + b, y[i]);
      slope += C[i] * at.first;
      curvature += C[i] * at.second;
      magnitude += C[i] * std::abs(at.first);
    }
    // Far out all derivatives fall below the smallest normal number.
    constexpr double kTiny = std::numeric_limits<double>::min();
    RC_ASSERT(std::abs(slope) <= 1e-14 * (magnitude + curvature * (std::abs(b) + 4 * scale)) + kTiny);
  }
}

class CountingLoss final : public LogisticLoss {
 public:
  LossDerivatives DerivativesAt(double f, double y) const override {
    ++calls;
    return LogisticLoss::DerivativesAt(f, y);
  }
  mutable int calls = 0;
};

// Outputs of unnormalised kernels may be of any size; the bias of each of a line search's many points is
// looked for among them.
TEST(SmoothLoss, BestBiasTakesFewPassesWhateverTheSizeOfOutputs) {
  for (const double size : {1e-30, 1.0, 1e10, 1e30, 1e60}) {
    std::vector<double> f, y, C;
    for (int i = 0; i < 99; ++i) {
      f.push_back(size * std::sin(i));
      y.push_back(std::sin(i) + std::sin(7 * i) > 0 ? 1 : -1);
      C.push_back(1 + 0.5 * std::sin(3 * i));
    }
    const CountingLoss loss;
    const double b = loss.BestBias(f, y, C, 0);
    EXPECT_LE(loss.calls, 60 * 99) << size;
    double below = 0, above = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
      const double near = 1e-9 * std::max(1.0, std::abs(b));
      below += C[i] * loss.DerivativesAt(f[i] + b - near, y[i]).first;
      above += C[i] * loss.DerivativesAt(f[i] + b + near, y[i]).first;
    }
    EXPECT_LE(below, 1e-12) << size;
    EXPECT_GE(above, -1e-12) << size;
  }
}

TEST(SmoothLoss, BestBiasOfOneClassIsFinite) {
  const std::vector<double> f = {0.5, -2}, y = {1, 1}, C = {1, 3};
  EXPECT_GT(LogisticLoss().BestBias(f, y, C, 0), 20);
  EXPECT_LT(LogisticLoss().BestBias(f, y, C, 0), 1e4);
  EXPECT_DOUBLE_EQ(SquaredHingeLoss().BestBias(f, y, C, 0), 3);
  EXPECT_EQ(LogisticLoss().BestBias({}, {}, {}, 0), 0);
}

TEST(SquaredLoss, BestBiasIsTheWeightedMeanResidual) {
  const std::vector<double> f = {0.5, -2, 7}, y = {1.5, 4, -1}, C = {1, 3, 0.5};
  EXPECT_NEAR(SquaredLoss().BestBias(f, y, C, 0), (1 + 18 - 4) / 4.5, 1e-14);
  EXPECT_NEAR(SquaredLoss().BestBias(f, y, C, 1), (1 + 18 - 4 - 1) / 4.5, 1e-14);
}

TEST(SquaredHingeLoss, BestBiasIsTheMiddleOfAFlatOptimum) {
  const std::vector<double> f = {3, -2}, y = {1, -1}, C = {1, 1};
  EXPECT_DOUBLE_EQ(SquaredHingeLoss().BestBias(f, y, C, 0), -0.5);  // any b in [-2, 1] costs nothing
}

TEST(LogisticLoss, KeepsItsDigitsFarOut) {
  const LogisticLoss logistic;
  EXPECT_DOUBLE_EQ(logistic.Value(-800, 1), 800);
  EXPECT_NEAR(logistic.Value(40, 1) / std::exp(-40), 1, 1e-14);
  EXPECT_EQ(logistic.Dual(0, 1, 2), 0);
  EXPECT_EQ(logistic.Dual(-2, -1, 2), 0);
  EXPECT_NEAR(logistic.Dual(1, 1, 2), 2 * std::log(2), 1e-15);
}

TEST(LogisticLoss, SmoothedHingeTendsToTheHinge) {
  const HingeLoss hinge;
  for (const double sharpness : {10.0, 1e3, 1e5}) {
    const LogisticLoss smoothed(sharpness, 1);
    for (double f = -2; f <= 2; f += 0.25) {
      const double excess = smoothed.Value(f, 1) - hinge.Value(f, 1);
      EXPECT_GE(excess, 0);
      EXPECT_LE(excess, std::log(2.0) / sharpness * (1 + 1e-9));
    }
  }
}

}  // namespace
}  // namespace kweave
