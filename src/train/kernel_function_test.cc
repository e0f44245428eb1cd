#include "kweave/kernel_function.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "kweave/error.h"

namespace kweave {
namespace {

constexpr Index kSamples = 80;

// Sums of products: exp(-theta_0 D_0 - theta_1 D_1) + theta_2 exp(-theta_3 D_2), one feature to a distance.
class SumOfProducts : public KernelFunction {
 public:
  explicit SumOfProducts(double error = 0) : error_(error) {
    Random random(1);
    for (Index i = 0; i < 3 * kSamples; ++i) x_.push_back(2 * random.Uniform() - 1);
  }
  Index samples() const override { return kSamples; }
  Index parameters() const override { return 4; }
  double x(Index i, int f) const { return x_[3 * i + f]; }

  void Row(std::span<const double> theta, Index i, std::span<double> out) const override {
    for (Index j = 0; j < kSamples; ++j) {
      out[j] = std::exp(-theta[0] * D(i, j, 0) - theta[1] * D(i, j, 1)) +
               theta[2] * std::exp(-theta[3] * D(i, j, 2));
    }
  }
  void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                   std::span<double> gradient) const override {
    for (Index j = 0; j < kSamples; ++j) {
      const double first = weights[j] * std::exp(-theta[0] * D(i, j, 0) - theta[1] * D(i, j, 1));
      const double second = weights[j] * std::exp(-theta[3] * D(i, j, 2));
      gradient[0] -= first * D(i, j, 0) * (1 + error_);
      gradient[1] -= first * D(i, j, 1);
      gradient[2] += second;
      gradient[3] -= theta[2] * second * D(i, j, 2);
    }
  }

 private:
  double D(Index i, Index j, int f) const { return (x(i, f) - x(j, f)) * (x(i, f) - x(j, f)); }
  std::vector<double> x_;
  double error_;
};

std::vector<double> LabelsByTheFirstFeature(const SumOfProducts& kernel) {
  std::vector<double> labels;
  for (Index i = 0; i < kSamples; ++i) labels.push_back(std::abs(kernel.x(i, 0)) < 0.5 ? 1 : -1);
  return labels;
}

TEST(CheckGradient, TellsRightFromWrong) {
  const std::vector<double> theta = {0.7, 1.1, 0.4, 2.0};
  EXPECT_LT(CheckGradient(SumOfProducts(), theta), 1e-6);
  EXPECT_GT(CheckGradient(SumOfProducts(0.01), theta), 1e-4);
  EXPECT_LT(CheckGradient(BoxRegularizer(0, 5, 0.3, 0.7), theta), 1e-6);
}

TEST(LearnKernel, FindsTheFeatureThatMatters) {
  const SumOfProducts kernel;
  const LearnedKernel learned =
      LearnKernel(kernel, BoxRegularizer(0, 50, 0.1), LabelsByTheFirstFeature(kernel), {.C = 10});
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_LE(learned.projected_gradient, 1e-3);
  EXPECT_GT(learned.theta[0], 5 * learned.theta[1]);
}

TEST(LearnKernel, RefusesWhatDoesNotFit) {
  const SumOfProducts kernel;
  const BoxRegularizer box(0, 1);
  EXPECT_THROW(LearnKernel(kernel, box, std::vector<double>(3, 1.0), {}), Error);
  EXPECT_THROW(LearnKernel(kernel, box, std::vector<double>(kSamples, 2.0), {}), Error);
  EXPECT_THROW(LearnKernel(kernel, box, LabelsByTheFirstFeature(kernel), {.method = "silp"}), Error);
  EXPECT_THROW(BoxRegularizer(2, 1), Error);
}

}  // namespace
}  // namespace kweave
