#include "regularizer/lp_projection.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

constexpr int kMostNewtonSteps = 60;
constexpr double kInnerPrecision = 1e-13;
constexpr double kOuterPrecision = 1e-12;

// The threshold t with sum max(v - t, 0) = 1 for values v >= 0 that sum to more: values are split around a pivot, and the half
// that is known to lie above or below t is never looked at again.
double SimplexThreshold(std::vector<double> v) {
  double kept_sum = 0;
  double kept_count = 0;
  auto begin = v.begin();
  auto end = v.end();
  while (begin != end) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, std::greater<>());
    double sum = *middle;
    for (auto value = begin; value != middle; ++value) sum += *value;
    const auto count = static_cast<double>(middle - begin + 1);
    if (kept_sum + sum - (kept_count + count) * *middle < 1) {
      kept_sum += sum;
      kept_count += count;
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return (kept_sum - 1) / kept_count;
}

// x + lambda x^(p-1) = v as a t^r + b t = v with r > 1: t = x^(p-1) for p < 2, t = x above.
class Shrinkage {
 public:
  Shrinkage(double p, double lambda)
      : is_below_two_(p < 2),
        r_(is_below_two_ ? 1 / (p - 1) : p - 1),
        a_(is_below_two_ ? 1 : lambda),
        b_(is_below_two_ ? lambda : 1),
        p_(p) {}

  /// x, for v > 0.
  double At(double v) const {
    // At this t both terms are at most v: the root lies below, and the terms above it are at most 2 v.
    double t = std::min(std::pow(v / a_, 1 / r_), v / b_);
    double power = std::pow(t, r_);
    for (int k = 0; k < kMostNewtonSteps; ++k) {
      const double excess = a_ * power + b_ * t - v;
      if (!(excess > kInnerPrecision * v)) break;
      t -= excess / (a_ * r_ * power / t + b_);
      power = std::pow(t, r_);
    }
    return is_below_two_ ? power : t;
  }

  /// -dx/dlambda at x > 0, times x^(p-1): what the derivative of sum x^p needs.
  double Slope(double x, double lambda) const {
    const double power = std::pow(x, p_ - 1);
    return power * power / (1 + lambda * (p_ - 1) * power / x);
  }

 private:
  bool is_below_two_;
  double r_, a_, b_, p_;
};

void ProjectByNewton(double p, std::span<double> theta) {
  std::vector<double> x(theta.size());
  const double largest = *std::max_element(theta.begin(), theta.end());
  const double least = std::pow(static_cast<double>(theta.size()), -1 / p);
  double low = 0;
  double high = (largest - least) / std::pow(least, p - 1);   // here no value exceeds `least`
  double lambda = std::max(LpNorm(p).Value(theta) - 1, 0.0);  // right for p = 2
  for (int k = 0; k < kMostNewtonSteps; ++k) {
    if (!(lambda > low && lambda < high)) lambda = low + 0.5 * (high - low);
    const Shrinkage shrinkage(p, lambda);
    double sum = 0;
    double slope = 0;
    for (std::size_t m = 0; m < x.size(); ++m) {
      x[m] = theta[m] > 0 ? shrinkage.At(theta[m]) : 0;
      if (!(x[m] > 0)) continue;
      sum += std::pow(x[m], p);
      slope += shrinkage.Slope(x[m], lambda);
    }
    if (std::abs(sum - 1) <= kOuterPrecision || !(high - low > kOuterPrecision * high)) break;
    (sum > 1 ? low : high) = lambda;
    // d/dlambda of sum^(-1/p) is sum^(-1/p - 1) slope.
    lambda += (std::pow(sum, 1 / p) - 1) * sum / slope;
  }
  std::copy(x.begin(), x.end(), theta.begin());
}

}  // namespace

void ProjectOntoLpBall(double p, std::span<double> theta) {
  const LpNorm norm(p);
  for (double& value : theta) value = std::max(value, 0.0);
  if (std::isinf(p)) {
    for (double& value : theta) value = std::min(value, 1.0);
    return;
  }
  if (!(norm.Value(theta) > 1)) return;
  if (p == 1) {
    const double threshold = SimplexThreshold({theta.begin(), theta.end()});
    for (double& value : theta) value = std::max(value - threshold, 0.0);
  } else if (p != 2) {
    ProjectByNewton(p, theta);
  }
  norm.MakeFeasible(theta);
}

}  // namespace kweave
