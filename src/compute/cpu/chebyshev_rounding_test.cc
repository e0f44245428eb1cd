#include "compute/cpu/chebyshev_rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "base/random.h"
#include "compute/cpu/family_loops.h"

namespace kweave {
namespace {

// The largest error of the sum at points that are dense at the ends, where it is largest.
double LargestError(std::span<const float> coefficients) {
  constexpr Index kPoints = 20000;
  std::vector<double> exact(kPoints);
  std::vector<float> twice(kPoints), sums(kPoints, 0.0F);
  for (Index j = 0; j < kPoints; ++j) {
    const double angle = std::numbers::pi * static_cast<double>(j) / (kPoints - 1);
    twice[j] = static_cast<float>(2 * std::cos(angle));
    for (std::size_t k = 0; k < coefficients.size(); ++k) {
      exact[j] += static_cast<double>(coefficients[k]) * std::cos(static_cast<double>(k) * angle);
    }
  }
  AddChebyshev<float>(twice.data(), kPoints, kMappedVariable<float>, coefficients, sums.data());
  double largest = 0;
  for (Index j = 0; j < kPoints; ++j) {
    largest = std::max(largest, std::abs(static_cast<double>(sums[j]) - exact[j]));
  }
  return largest;
}

// With coefficients that fall, as those of tables do, and with others.
TEST(ChebyshevRounding, BoundsTheErrorAndIsNotFarAboveIt) {
  Random random(3);
  for (const double ratio : {0.3, 0.6, 0.9, 1.0}) {
    for (const std::size_t terms : {1, 2, 4, 5, 13, 30, 101}) {
      std::vector<float> coefficients(terms);
      double size = 1;
      for (float& c : coefficients) c = static_cast<float>(size * (2 * random.Uniform() - 1)), size *= ratio;
      const double error = LargestError(coefficients), bound = ChebyshevRounding(coefficients);
      EXPECT_LE(error, bound) << terms << " terms, ratio " << ratio;
      if (ratio <= 0.6 && terms > 1) {
        EXPECT_LE(bound, 300 * error) << terms << " terms, ratio " << ratio;
      }
    }
  }
}

TEST(ChebyshevRounding, OfNothingIsNothing) { EXPECT_EQ(ChebyshevRounding({}), 0); }

}  // namespace
}  // namespace kweave
