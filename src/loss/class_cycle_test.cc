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
    prices.Offer(i % classes, gradient[static_cast<std::size_t>(i % classes)], gradient.data());
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
  prices.Offer(0, first[0], first);
  prices.Offer(1, second[1], second);
  prices.Offer(2, third[2], third);
  ClassPairs pairs(prices);
  pairs.Find();
  EXPECT_EQ(MeanLength(prices, pairs.Shortest()), 0);
  const ClassPotentials found = FindPotentials(prices, {});
  EXPECT_EQ(found.cycle.size(), 3u);
  EXPECT_NEAR(found.excess, 1, 1e-15);
  EXPECT_EQ(prices.Length(0, 1), -1);
}

// Pairs that are brought up to date, after a few classes changed, are those found anew.
TEST(ClassCycle, KeepsTheShortestPair) {
  kweave::Random random(5);
  constexpr Index kClasses = 9;
  ClassPrices prices = Random(kClasses, 4);
  ClassPairs kept(prices);
  kept.Find();
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<char> is_changed(kClasses, 0);
    std::vector<Index> changed;
    for (int k = 0; k < 2; ++k) {
      const auto u = static_cast<Index>(random.Below(kClasses));
      if (is_changed[static_cast<std::size_t>(u)] != 0) continue;
      is_changed[static_cast<std::size_t>(u)] = 1;
      changed.push_back(u);
      for (Index v = 0; v < kClasses; ++v) {
        if (v == u) continue;
        prices.length[static_cast<std::size_t>(u * kClasses + v)] = random.Uniform() - 0.5;
        prices.length[static_cast<std::size_t>(v * kClasses + u)] = random.Uniform() - 0.5;
      }
    }
    kept.Update(changed, is_changed);
    ClassPairs found(prices);
    found.Find();
    EXPECT_EQ(MeanLength(prices, kept.Shortest()), MeanLength(prices, found.Shortest()));
  }
}

TEST(ClassCycle, FindsACycleAboveAnExcessOrPotentialsThatMeetIt) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const ClassPrices prices = Random(3 + static_cast<Index>(seed % 9), seed);
    const double worst = FindPotentials(prices, {}).excess;
    std::vector<double> potentials;
    const std::vector<Index> cycle = FindCycle(prices, worst - 0.01, potentials);
    ASSERT_FALSE(cycle.empty());
    EXPECT_LT(MeanLength(prices, cycle), -(worst - 0.01));
    EXPECT_TRUE(FindCycle(prices, worst + 0.01, potentials).empty());
    for (Index u = 0; u < prices.classes; ++u) {
      for (Index v = 0; v < prices.classes; ++v) {
        const double difference =
            potentials[static_cast<std::size_t>(v)] - potentials[static_cast<std::size_t>(u)];
        EXPECT_LE(difference, prices.Length(u, v) + worst + 0.01 + 1e-12);
      }
    }
  }
}

TEST(ClassCycle, NothingToRaiseHasNoCycle) {
  ClassPrices prices(4);
  prices.Clear(true);
  EXPECT_TRUE(FindPotentials(prices, {}).cycle.empty());
}

}  // namespace
}  // namespace kweave
