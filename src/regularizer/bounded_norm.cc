#include "regularizer/bounded_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/dot.h"
#include "kweave/error.h"
#include "regularizer/find_root.h"
#include "regularizer/norms.h"
#include "regularizer/shrinkage.h"

namespace kweave {

namespace {

constexpr int kMostHalvings = 200;
constexpr double kSlack = 1e-12;
constexpr double kWideRange = 1e9;  // of the logarithm of a scale

}  // namespace

BoundedNorm::BoundedNorm(double p, std::vector<double> lower, std::vector<double> upper)
    : norm_(p), lower_(std::move(lower)), upper_(std::move(upper)) {
  for (std::size_t m = 0; m < lower_.size(); ++m) {
    if (!(lower_[m] >= 0 && lower_[m] <= upper_[m])) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("the bounds of weight {} are {} and {}, but must be 0 or more and "
                              "in this order",
                              m + 1, lower_[m], upper_[m]));
    }
  }
  if (norm_.Norm(lower_) > 1 + kSlack) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the lower bounds of the weights have norm {}, above 1, so that no "
                            "weights meet them",
                            norm_.Norm(lower_)));
  }
}

std::string BoundedNorm::Name() const {
  return fmt::format("norm {} with bounds on single weights", norm_.p());
}

double BoundedNorm::DualTerm(std::span<const double> q) const {
  std::vector<double> theta(q.size());
  BestResponse(q, theta);
  double sum = 0;
  for (std::size_t m = 0; m < q.size(); ++m) sum += theta[m] * std::max(q[m], 0.0);
  return 0.5 * sum;
}

void BoundedNorm::BestResponse(std::span<const double> q, std::span<double> theta) const {
  if (const auto weights = linear()) return FillByQuadratics(*weights, q, theta);
  const double largest = LargestPositive(q);
  const double exponent = std::isinf(norm_.p()) ? 0 : 1 / (norm_.p() - 1);
  // `log_scale` is -log(lambda) / (p - 1), in units of the largest q: near p = 1 its range is wide.
  const auto fill = [&](double log_scale) {
    for (std::size_t m = 0; m < q.size(); ++m) {
      const double wanted = q[m] > 0 ? std::exp(log_scale + exponent * std::log(q[m] / largest)) : 0;
      theta[m] = std::clamp(wanted, lower_[m], upper_[m]);
    }
    return norm_.Norm(theta);
  };
  double low = -kWideRange, high = 0;
  double step = 1;
  while (high < kWideRange && fill(high) <= 1) {
    low = high;
    high += step;
    step *= 2;
  }
  for (int k = 0; k < kMostHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    (fill(middle) > 1 ? high : low) = middle;
  }
  fill(low);
}

void BoundedNorm::Start(std::span<double> theta) const {
  norm_.Uniform(theta);
  MakeFeasible(theta);
}

void BoundedNorm::MakeFeasible(std::span<double> theta) const {
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] = std::clamp(theta[m], lower_[m], upper_[m]);
  if (!(norm_.Norm(theta) > 1)) return;
  const std::vector<double> far(theta.begin(), theta.end());
  double low = 0, high = 1;
  const auto go = [&](double share) {
    for (std::size_t m = 0; m < far.size(); ++m) theta[m] = lower_[m] + share * (far[m] - lower_[m]);
  };
  for (int k = 0; k < kMostHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    go(middle);
    (norm_.Norm(theta) > 1 ? high : low) = middle;
  }
  go(low);
}

// x + lambda scale x^(p-1) = v, then cut. Where lambda is 0 the norm does not bind.
void BoundedNorm::ProjectScaled(std::span<double> theta, std::span<const double> scales) const {
  const double p = norm_.p();
  const std::vector<double> v(theta.begin(), theta.end());
  std::vector<double> roots(v.size(), 0.0);
  const Shrinkage shrinkage(p);
  const auto shrink = [&](double lambda) {
    for (std::size_t m = 0; m < v.size(); ++m) {
      const double pull = lambda * (scales.empty() ? 1 : scales[m]);
      double x = std::max(v[m], 0.0);
      if (x > 0 && pull > 0) x = p == 1 ? x - pull : shrinkage.Solve(pull, x, roots[m]).x;
      theta[m] = std::clamp(x, lower_[m], upper_[m]);
    }
    return norm_.Norm(theta);
  };
  if (std::isinf(p)) {
    for (double& value : theta) value = std::min(value, 1.0);
  } else if (shrink(0) > 1) {
    FindRoot([&](double log_lambda) { return -std::log(shrink(std::exp(log_lambda))); }, 0, kSlack);
  }
  MakeFeasible(theta);
}

std::optional<LinearWeights> BoundedNorm::linear() const {
  if (norm_.p() != 1) return std::nullopt;
  return LinearWeights{.lower = lower_, .upper = upper_};
}

}  // namespace kweave
