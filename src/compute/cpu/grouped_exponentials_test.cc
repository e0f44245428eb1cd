#include "compute/cpu/grouped_exponentials.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace kweave {
namespace {

constexpr Index kPairs = 3 * GroupedExponentials::kMultiple;

// Sums and totals of plain loops, in long double.
void ExpectThoseOfPlainLoops(const std::vector<double>& gammas, double largest_base) {
  Random random(5);
  std::vector<double> base(kPairs), factors(kPairs), weights(gammas.size());
  for (double& value : base) value = largest_base * std::pow(random.Uniform(), 3);
  base[1] = 0;
  base[2] = largest_base;
  for (double& value : factors) value = 2 * random.Uniform() - 1;
  for (double& value : weights) value = random.Uniform();

  const GroupedExponentials exponentials(gammas, largest_base);
  std::vector<double> sums(kPairs, 1.0), totals(gammas.size(), 0.0), sums_alone(kPairs, 0.0),
      values(gammas.size(), 2.0);
  const std::vector<double> arranged = exponentials.Arrange(weights);
  using Total = GroupedExponentials::Total;
  const std::vector<Total> one = {{factors.data(), totals.data()}};
  exponentials.Add(base.data(), kPairs, arranged, sums.data(), one);
  exponentials.AddBack(totals, values);
  std::vector<double> first(gammas.size(), 0.0), second(gammas.size(), 0.0);
  const std::vector<Total> two = {{base.data(), first.data()}, {factors.data(), second.data()}};
  exponentials.Add(base.data(), kPairs, arranged, sums_alone.data(), two);
  EXPECT_EQ(second, totals);
  sums_alone.assign(kPairs, 0.0);
  exponentials.Add(base.data(), kPairs, arranged, sums_alone.data(), {});

  // A few units in the last place of 1 for every exponential.
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  std::vector<long double> expected(gammas.size(), 2.0L);
  for (Index j = 0; j < kPairs; ++j) {
    long double sum = 0;
    for (std::size_t m = 0; m < gammas.size(); ++m) {
      const long double value = std::expm1(-static_cast<long double>(gammas[m]) * base[j]);
      sum += weights[m] * value;
      expected[m] += factors[j] * value;
    }
    const double tolerance = kRounding * static_cast<double>(gammas.size());
    EXPECT_NEAR(sums[j], static_cast<double>(1 + sum), tolerance) << base[j];
    EXPECT_NEAR(sums_alone[j], static_cast<double>(sum), tolerance) << base[j];
  }
  for (std::size_t m = 0; m < gammas.size(); ++m) {
    EXPECT_NEAR(values[m], static_cast<double>(expected[m]), kRounding * kPairs) << gammas[m];
  }
}

TEST(GroupedExponentials, AreThoseOfPlainLoops) {
  std::vector<double> dense, spread, mixed = {3.0, 3.0, 0.0, 1e-300, 3.02, 1e5};
  Random random(6);
  for (int m = 0; m < 1000; ++m) dense.push_back(1e-3 * std::pow(1.004, m));
  for (int m = 0; m < 50; ++m) spread.push_back(std::pow(10, 12 * random.Uniform() - 6));
  for (int m = 0; m < 100; ++m) mixed.push_back(2 + 0.01 * random.Uniform());
  for (const auto& gammas : {dense, spread, mixed, std::vector<double>{0.5}}) {
    for (const double largest : {1e-9, 4.0, 1e4}) ExpectThoseOfPlainLoops(gammas, largest);
  }
}

TEST(GroupedExponentials, HugeExponentsGiveNoKernelLeft) {
  const std::vector<double> gammas = {1e200, 1.001e200};
  const GroupedExponentials exponentials(gammas, 1e100);
  std::vector<double> base(GroupedExponentials::kMultiple, 1e100), sums(base.size(), 0.0);
  exponentials.Add(base.data(), GroupedExponentials::kMultiple, std::vector<double>{1, 1}, sums.data(), {});
  for (const double sum : sums) EXPECT_EQ(sum, -2);
}

}  // namespace
}  // namespace kweave
