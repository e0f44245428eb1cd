#include "regularizer/mixed_projection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/constants.h"
#include "base/random.h"
#include "regularizer/lp_projection.h"
#include "regularizer/mixed_norm.h"

namespace kweave {
namespace {

constexpr double kNorms[] = {1, 1.001, 1.05, 4.0 / 3, 2, 3, 10, 100, 200, kInfinity};

// Of the parts, where the weights have p.
double BlockExponent(double p) { return std::isinf(p) ? 2 : 2 * p / (p + 1); }

std::vector<double> RandomVector(Random& random, std::size_t size, double from, double to) {
  std::vector<double> v(size);
  for (double& value : v) value = from + (to - from) * random.Uniform();
  return v;
}

std::vector<int> RandomGroups(Random& random, std::size_t size, int count) {
  std::vector<int> groups(size);
  for (int& group : groups) group = static_cast<int>(random.Uniform() * count);
  groups.back() = count - 1;
  return groups;
}

// The nearest point x is the one with (v - x)' (z - x) <= 0 for all z of the set, in the metric; the worst z
// is the best response.
double LargestViolation(const MixedNorm& norm, const std::vector<double>& v, const std::vector<double>& x,
                        const std::vector<double>& scales) {
  std::vector<double> pull(v.size());
  double at_x = 0, size = 1;
  for (std::size_t m = 0; m < v.size(); ++m) {
    pull[m] = (v[m] - x[m]) / scales[m];
    at_x += pull[m] * x[m];
    size += std::abs(pull[m]);
  }
  return (2 * norm.DualTerm(pull) - at_x) / size;
}

TEST(MixedProjection, IsTheNearestPointInEveryMetric) {
  Random random(5);
  for (const double p : kNorms) {
    for (const double q : kNorms) {
      for (const std::size_t size : {1u, 3u, 40u, 300u}) {
        for (const double scale : {1e-3, 0.5, 30.0}) {
          const std::vector<int> groups = RandomGroups(random, size, size < 4 ? 1 : 7);
          const MixedNorm norm(groups, BlockExponent(p), BlockExponent(q));
          const std::vector<double> v = RandomVector(random, size, -0.5 * scale, scale);
          for (const bool is_scaled : {false, true}) {
            const std::vector<double> scales =
                is_scaled ? RandomVector(random, size, 0.02, 1) : std::vector<double>(size, 1.0);
            std::vector<double> x = v;
            ProjectOntoMixedBall(p, q, groups, x, is_scaled ? scales : std::vector<double>());
            EXPECT_GE(*std::min_element(x.begin(), x.end()), 0);
            EXPECT_LE(norm.ThetaNorm(x), 1 + 1e-10) << p << " " << q << " " << size << " " << scale;
            EXPECT_LE(LargestViolation(norm, v, x, scales), 1e-9)
                << p << " " << q << " " << size << " " << scale;
          }
        }
      }
    }
  }
}

TEST(MixedProjection, GroupsOfOneAndOneGroupAreBalls) {
  Random random(6);
  const std::vector<double> v = RandomVector(random, 20, -1, 3), scales = RandomVector(random, 20, 0.1, 1);
  std::vector<int> singles(v.size());
  std::iota(singles.begin(), singles.end(), 0);
  for (const double p : kNorms) {
    for (const double q : kNorms) {
      std::vector<double> of_singles = v, of_one = v, ball_p = v, ball_q = v;
      ProjectOntoMixedBall(p, q, singles, of_singles, scales);
      ProjectOntoMixedBall(p, q, std::vector<int>(v.size(), 0), of_one, scales);
      ProjectOntoLpBall(p, ball_p, scales);
      ProjectOntoLpBall(q, ball_q, scales);
      for (std::size_t m = 0; m < v.size(); ++m) {
        EXPECT_NEAR(of_singles[m], ball_p[m], 1e-9) << p << " " << q;
        EXPECT_NEAR(of_one[m], ball_q[m], 1e-9) << p << " " << q;
      }
    }
  }
}

// Large exponents within groups, where small groups would leave the range of numbers.
TEST(MixedProjection, ShrinksSmallGroupsInProportion) {
  std::vector<double> x = {3, 0.01};
  ProjectOntoMixedBall(2, 200, std::vector<int>{0, 1}, x);
  const double factor = 1 / std::hypot(3, 0.01);
  EXPECT_NEAR(x[0], 3 * factor, 1e-9);
  EXPECT_NEAR(x[1], 0.01 * factor, 1e-9);
  std::vector<double> sparse = {0.0265, 0.4152, 0.0479, 0.4114, 2.7413};
  ProjectOntoMixedBall(1, 200, std::vector<int>{0, 1, 2, 3, 4}, sparse);
  EXPECT_NEAR(sparse[4], 1, 1e-9);
  EXPECT_EQ(sparse[0] + sparse[1] + sparse[2] + sparse[3], 0);
}

TEST(MixedProjection, TakesManyGroupsThatAreOnTheirOwn) {
  constexpr int kGroups = 200'000;
  std::vector<double> v(2 * kGroups, 2.0);
  std::vector<int> groups(v.size());
  for (std::size_t m = 0; m < v.size(); ++m) groups[m] = static_cast<int>(m) % kGroups;
  ProjectOntoMixedBall(kInfinity, 1, groups, v);
  for (const double value : v) ASSERT_NEAR(value, 0.5, 1e-12);
}

TEST(MixedProjection, LeavesWhatIsInsideAlone) {
  const std::vector<int> groups = {0, 0, 1, 1};
  const std::vector<double> inside = {0.1, 0, 0.2, 0.3};
  for (const double p : kNorms) {
    for (const double q : kNorms) {
      std::vector<double> x = inside;
      ProjectOntoMixedBall(p, q, groups, x);
      EXPECT_EQ(x, inside);
    }
  }
}

}  // namespace
}  // namespace kweave
