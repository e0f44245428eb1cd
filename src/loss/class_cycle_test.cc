#include "loss/class_cycle.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace kweave {
namespace {

ClassPrices Random(Index classes, std::uint64_t seed) {
  kweave::Random random(seed);
  ClassPrices prices(classes);
  prices.Clear(/*has_bias=*/true);
  std::vector<double> gradient(static_cast<std::size_t>(classes));
  for (Index i = 0; i < 3 * classes; ++i) {
    for (double& value : gradient) value = random.Uniform();
    prices.Offer(i, i % classes, gradient.data());
  }
  return prices;
}

TEST(ClassCycle, PotentialsMeetEveryPriceUpToTheExcess) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const ClassPrices prices = Random(2 + static_cast<Index>(seed % 9), seed);
    const ClassPotentials found = FindPotentials(prices, {});
    for (Index u = 0; u < prices.classes; ++u) {
      for (Index v = 0; v < prices.classes; ++v) {
        const double difference =
            found.biases[static_cast<std::size_t>(v)] - found.biases[static_cast<std::size_t>(u)];
        EXPECT_LE(difference, prices.Length(u, v) + found.excess + 1e-12);
      }
    }
    EXPECT_NEAR(found.excess, -MeanLength(prices, found.cycle), 1e-12);
  }
}

// Every pair of classes is settled, but all three together are not.
TEST(ClassCycle, FindsCyclesOfThree) {
  ClassPrices prices(3);
  prices.Clear(true);
  const double first[] = {0, 1, -1}, second[] = {-1, 0, 1}, third[] = {1, -1, 0};
  prices.Offer(7, 0, first);
  prices.Offer(8, 1, second);
  prices.Offer(9, 2, third);
  EXPECT_EQ(MeanLength(prices, ShortestPair(prices)), 0);
  const ClassPotentials found = FindPotentials(prices, {});
  EXPECT_EQ(found.cycle.size(), 3u);
  EXPECT_NEAR(found.excess, 1, 1e-15);
  EXPECT_EQ(prices.Sample(0, 1), 7);
}

TEST(ClassCycle, NothingToRaiseHasNoCycle) {
  ClassPrices prices(4);
  prices.Clear(true);
  EXPECT_TRUE(FindPotentials(prices, {}).cycle.empty());
}

}  // namespace
}  // namespace kweave
