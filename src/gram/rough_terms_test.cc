#include "gram/rough_terms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/random.h"
#include "compute/cpu/family_loops.h"

namespace kweave {
namespace {

std::vector<double> FallingTerms(std::size_t count, double ratio, Random& random) {
  std::vector<double> terms(count);
  double size = 3;
  for (double& term : terms) term = size * (2 * random.Uniform() - 1), size *= ratio;
  return terms;
}

// Of sum_i a_i k(x_i, x), as the passes over rows find it, at points dense at the ends of the interval.
double LargestError(std::span<const double> terms, std::span<const float> rough, std::span<const double> a) {
  constexpr Index kPoints = 500;
  std::vector<float> twice(kPoints), block(kPoints, 0.0F);
  std::vector<double> exact(kPoints, 0.0), found(kPoints, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<float> scaled(rough.begin(), rough.end());
    for (float& term : scaled) term *= static_cast<float>(a[i]);
    for (Index j = 0; j < kPoints; ++j) {
      // Every row has other values at the same sample, all of one sign where factors have one, too.
      const double angle =
          std::numbers::pi * static_cast<double>(j) / kPoints * (1 + 0.1 * std::sin(double(i)));
      twice[j] = static_cast<float>(2 * std::cos(angle));
      for (std::size_t k = 0; k < terms.size(); ++k) {
        exact[j] += a[i] * terms[k] * std::cos(static_cast<double>(k) * angle);
      }
    }
    AddChebyshev<float>(twice.data(), kPoints, kMappedVariable<float>, scaled, block.data());
    if (i % kRoughRows == kRoughRows - 1 || i + 1 == a.size()) {
      Flush<float>(block.data(), kPoints, found.data());
    }
  }
  double largest = 0;
  for (Index j = 0; j < kPoints; ++j) largest = std::max(largest, std::abs(found[j] - exact[j]));
  return largest;
}

TEST(RoughTerms, KeepOutputsWithinTheError) {
  Random random(11);
  for (const double ratio : {0.5, 0.8, 0.95}) {
    for (const std::size_t count : {1, 12, 40, 90}) {
      const std::vector<double> terms = FallingTerms(count, ratio, random);
      std::vector<double> a(50);
      for (double& factor : a) factor = random.Uniform();
      for (const double error : {1e-1, 1e-2, 1e-3}) {
        const std::vector<float> rough = RoughTerms(terms, a, error);
        if (rough.empty()) continue;
        EXPECT_LE(rough.size(), count);
        EXPECT_LE(LargestError(terms, rough, a), error) << count << " terms, ratio " << ratio;
      }
    }
  }
}

TEST(RoughTerms, AreFewerTheMoreErrorIsAllowed) {
  Random random(3);
  const std::vector<double> terms = FallingTerms(60, 0.7, random), a = {1, -2, 3};
  std::size_t before = 60;
  for (const double error : {1e-3, 1e-2, 1e-1, 1.0}) {
    const std::size_t count = RoughTerms(terms, a, error).size();
    EXPECT_GT(count, 0U) << error;
    EXPECT_LT(count, before) << error;
    before = count;
  }
}

TEST(RoughTerms, ThereAreNoneWhereFloatsAreTooCoarse) {
  const std::vector<double> terms = {1, 0.5, 0.25}, ones(1000, 1.0);
  EXPECT_TRUE(RoughTerms(terms, ones, 1e-6).empty());
  EXPECT_FALSE(RoughTerms(terms, ones, 1).empty());
  for (const double scale : {1e-40, 1e-20, 1e20, 1e40}) {
    const std::vector<double> scaled = {scale, 0.5 * scale};
    EXPECT_TRUE(RoughTerms(scaled, ones, 1e300).empty()) << scale;
  }
  EXPECT_TRUE(RoughTerms(terms, std::vector<double>{1e39}, 1e300).empty());
  EXPECT_TRUE(RoughTerms(terms, ones, std::nan("")).empty());
}

// Whatever is left of a sum of no rows, it is zero.
TEST(RoughTerms, OfNothingIsOneTerm) {
  EXPECT_EQ(RoughTerms(std::vector<double>{1, 0.5}, std::vector<double>(4, 0.0), 0.1).size(), 1U);
}

}  // namespace
}  // namespace kweave
