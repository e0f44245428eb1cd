#include "regularizer/lp_projection.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/constants.h"
#include "regularizer/lp_norm.h"
#include "regularizer/norms.h"
#include "regularizer/shrinkage.h"

namespace kweave {

namespace {

constexpr double kOuterPrecision = 1e-11;  // of the logarithm of the norm: steps of methods are far coarser

double ScaleOf(std::span<const double> scales, std::size_t m) { return scales.empty() ? 1 : scales[m]; }

// The threshold t with sum max(v - t scale, 0) = 1 for values v >= 0 that sum to more. The sum is convex in t
// and falls, so that Newton steps from 0 never pass the root, and end at it: after each the values that stay
// positive are fewer, or it is found.
double SimplexThreshold(std::span<const double> v, std::span<const double> scales) {
  double t = 0;
  for (;;) {
    double sum = 0;
    double slope = 0;
    for (std::size_t m = 0; m < v.size(); ++m) {
      const double scale = ScaleOf(scales, m);
      if (!(v[m] > t * scale)) continue;
      sum += v[m];
      slope += scale;
    }
    const double next = slope > 0 ? (sum - 1) / slope : t;
    if (!(next > t)) return t;
    t = next;
  }
}

void ProjectByNewton(double p, std::span<double> theta, std::span<const double> scales) {
  const double least = std::pow(static_cast<double>(theta.size()), -1 / p);
  double low = 0;
  double high = 0;  // here no value exceeds `least`
  for (std::size_t m = 0; m < theta.size(); ++m) {
    high = std::max(high, (theta[m] - least) / (std::pow(least, p - 1) * ScaleOf(scales, m)));
  }
  const Shrinkage shrinkage(p);
  std::vector<double> roots(theta.size(), 0.0), x(theta.size(), 0.0);
  double lambda = std::max(LpNorm(p).Norm(theta) - 1, 0.0);  // right for p = 2
  for (int k = 0; k < kMostNewtonSteps; ++k) {
    if (!(lambda > low && lambda < high)) lambda = low + 0.5 * (high - low);
    double sum = 0;
    double slope = 0;
    for (std::size_t m = 0; m < x.size(); ++m) {
      if (!(theta[m] > 0)) continue;
      const double scale = ScaleOf(scales, m);
      const auto [shrunk, derivative] = shrinkage.Solve(lambda * scale, theta[m], roots[m]);
      x[m] = shrunk;
      if (!(x[m] > 0)) continue;
      sum += derivative * x[m];
      slope += scale * derivative * derivative / (1 + lambda * scale * (p - 1) * derivative / x[m]);
    }
    if (std::abs(sum - 1) <= kOuterPrecision || !(high - low > kOuterPrecision * high)) break;
    (sum > 1 ? low : high) = lambda;
    // d/dlambda of sum^(-1/p) is sum^(-1/p - 1) slope.
    lambda += (std::pow(sum, 1 / p) - 1) * sum / slope;
  }
  std::copy(x.begin(), x.end(), theta.begin());
}

}  // namespace

void ProjectOntoLpBall(double p, std::span<double> theta, std::span<const double> scales) {
  const LpNorm norm(p);
  DropNegative(theta);
  if (std::isinf(p)) {
    for (double& value : theta) value = std::min(value, 1.0);
    return;
  }
  if (!(norm.Norm(theta) > 1)) return;
  if (p == 1) {
    const double threshold = SimplexThreshold(theta, scales);
    for (std::size_t m = 0; m < theta.size(); ++m) {
      theta[m] = std::max(theta[m] - threshold * ScaleOf(scales, m), 0.0);
    }
  } else if (p != 2 || !scales.empty()) {
    ProjectByNewton(p, theta, scales);
  }
  norm.MakeFeasible(theta);
}

// The answer stays the same when all values move in proportion to their scales; with one value of 1 it lies
// on the border of the ball.
void ProjectOntoSimplex(std::span<double> theta, std::span<const double> scales) {
  std::size_t k = 0;
  for (std::size_t m = 1; m < theta.size(); ++m) {
    if ((1 - theta[m]) / ScaleOf(scales, m) < (1 - theta[k]) / ScaleOf(scales, k)) k = m;
  }
  const double shift = (1 - theta[k]) / ScaleOf(scales, k);
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] += shift * ScaleOf(scales, m);
  ProjectOntoLpBall(1, theta, scales);
}

}  // namespace kweave
