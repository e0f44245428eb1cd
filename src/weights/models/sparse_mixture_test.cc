#include "weights/models/sparse_mixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace kweave {
namespace {

constexpr std::size_t kLength = 6;

// Points of a smooth curve in six dimensions: neighbours are alike, as widths of a family are.
std::vector<double> Curve(std::size_t count) {
  std::vector<double> columns;
  for (std::size_t k = 0; k < count; ++k) {
    const double t = static_cast<double>(k) / static_cast<double>(count);
    for (std::size_t e = 0; e < kLength; ++e) columns.push_back(std::exp(-t * static_cast<double>(1 + e)));
  }
  return columns;
}

double LargestDifference(const std::vector<double>& columns, const std::vector<double>& x,
                         const std::vector<double>& w) {
  double largest = 0;
  for (std::size_t e = 0; e < kLength; ++e) {
    double difference = 0;
    for (std::size_t k = 0; k < x.size(); ++k) difference += (x[k] - w[k]) * columns[k * kLength + e];
    largest = std::max(largest, std::abs(difference));
  }
  return largest;
}

TEST(SparseMixture, KeepsTheMixtureWithFewColumns) {
  Random random(3);
  const std::vector<double> columns = Curve(2000);
  std::vector<double> w(2000);
  for (double& value : w) value = random.Uniform();
  const double sum = std::accumulate(w.begin(), w.end(), 0.0);
  for (double& value : w) value /= sum;
  for (const double tolerance : {1e-2, 1e-4, 1e-6}) {
    const std::vector<double> x = SparseMixture(columns, w, tolerance, 64);
    EXPECT_LE(LargestDifference(columns, x, w), tolerance);
    EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0), 1, 1e-12);
    EXPECT_GE(*std::min_element(x.begin(), x.end()), 0);
    // Caratheodory: as many as there are entries, and one more, are always enough.
    EXPECT_LE(std::count_if(x.begin(), x.end(), [](double v) { return v > 0; }), 7);
  }
}

TEST(SparseMixture, GivesBackWhatFewColumnsCannotDo) {
  std::vector<double> columns(100 * 100, 0.0);
  for (std::size_t k = 0; k < 100; ++k) columns[k * 100 + k] = 1;
  const std::vector<double> w(100, 0.01);
  EXPECT_EQ(SparseMixture(columns, w, 1e-6, 20), w);
  EXPECT_EQ(SparseMixture(std::vector<double>(100, 0.0), w, 1e-6, 20), w);
}

}  // namespace
}  // namespace kweave
