#include "regularizer/bounded_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/constants.h"
#include "kweave/error.h"
#include "regularizer/find_root.h"
#include "regularizer/norms.h"
#include "regularizer/shrinkage.h"

namespace kweave {

namespace {

constexpr double kSlack = 1e-12;      // of a norm: rounding of its sum
constexpr double kAboveTheNorm = 2;   // what no weight can be: stands for infinity
constexpr double kPrecision = 1e-14;  // of the logarithm of a norm
// Of the logarithm of a scale: up to the first, secants find it from zero. Near p = 1 it goes up to the
// second.
constexpr double kWideRange = 500, kWidestRange = 1e18;

// The last place where f, which rises, is not above zero.
template <class Function>
double Halve(const Function& f) {
  double low = -kWideRange, high = 0;
  double step = 1;
  while (high < kWidestRange && f(high) <= 0) {
    low = high;
    high += step;
    step *= 2;
  }
  for (int k = 0; k < kMostRootSteps; ++k) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    (f(middle) > 0 ? high : low) = middle;
  }
  return low;
}

}  // namespace

BoundedNorm::BoundedNorm(double p, std::vector<double> lower, std::vector<double> upper)
    : Regularizer({.name = fmt::format("norm {} with bounds on single weights", p),
                   .is_dual_smooth = p > 1,
                   .has_projection = true,
                   .least_step_share = LpNorm(p).least_step_share()}),
      norm_(p),
      lower_(std::move(lower)),
      upper_(std::move(upper)) {
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
                            norm_.Norm(lower_)),
                {"weight_bounds", "lower ones above norm 1", "lower ones of norm 1 at most"});
  }
  for (double& value : upper_) value = std::min(value, kAboveTheNorm);
  for (std::size_t m = 0; m < lower_.size(); ++m) {
    log_lower_.push_back(std::log(lower_[m]));
    log_upper_.push_back(std::log(upper_[m]));
    lower_power_.push_back(std::pow(lower_[m], p));
    upper_power_.push_back(std::pow(upper_[m], p));
  }
  traits().least_weights = lower_;
  if (p == 1) traits().linear = LinearWeights{.lower = lower_, .upper = upper_};
}

double BoundedNorm::DualTerm(std::span<const double> q) const {
  std::vector<double> theta(q.size());
  BestResponse(q, theta);
  double sum = 0;
  for (std::size_t m = 0; m < q.size(); ++m) sum += theta[m] * std::max(q[m], 0.0);
  return 0.5 * sum;
}

void BoundedNorm::BestResponse(std::span<const double> q, std::span<double> theta) const {
  if (const auto& weights = linear()) return FillByQuadratics(*weights, q, theta);
  const double p = norm_.p();
  for (std::size_t m = 0; m < q.size(); ++m) {
    theta[m] = q[m] > 0 ? (std::isinf(p) ? std::min(upper_[m], 1.0) : upper_[m]) : lower_[m];
  }
  if (std::isinf(p) || norm_.Norm(theta) <= 1) return;
  const double largest = LargestPositive(q);
  std::vector<double> logs(q.size(), -kInfinity);  // of q^(1 / (p - 1))
  double widest = 0;
  for (std::size_t m = 0; m < q.size(); ++m) {
    if (!(q[m] > 0)) continue;
    logs[m] = std::log(q[m] / largest) / (p - 1);
    widest = std::max(widest, -logs[m]);
  }
  // `log_scale` is -log(lambda) / (p - 1), in units of the largest q.
  const auto log_norm = [&](double log_scale) {
    double sum = 0;
    for (std::size_t m = 0; m < q.size(); ++m) {
      const double wanted = log_scale + logs[m];
      if (wanted >= log_upper_[m]) {
        sum += upper_power_[m];
      } else {
        sum += wanted <= log_lower_[m] ? lower_power_[m] : std::exp(p * wanted);
      }
    }
    return std::log(sum) / p;
  };
  const double log_scale = widest < kWideRange ? FindRoot(log_norm, 0, kPrecision) : Halve(log_norm);
  for (std::size_t m = 0; m < q.size(); ++m) {
    theta[m] = std::clamp(std::exp(log_scale + logs[m]), lower_[m], upper_[m]);
  }
  PullInside(theta);
}

// The norm is convex on the way to the lower bounds.
void BoundedNorm::PullInside(std::span<double> theta) const {
  const double norm = norm_.Norm(theta);
  if (!(norm > 1)) return;
  const double least = std::min(norm_.Norm(lower_), 1.0);
  const double share = (1 - least) / (norm - least);
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] = lower_[m] + share * (theta[m] - lower_[m]);
}

void BoundedNorm::Start(std::span<double> theta) const {
  norm_.Uniform(theta);
  MakeFeasible(theta);
}

void BoundedNorm::MakeFeasible(std::span<double> theta) const {
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] = std::clamp(theta[m], lower_[m], upper_[m]);
  if (!(norm_.Norm(theta) > 1)) return;
  const std::vector<double> far(theta.begin(), theta.end());
  const auto log_norm = [&](double log_share) {
    for (std::size_t m = 0; m < far.size(); ++m)
      theta[m] = lower_[m] + std::exp(log_share) * (far[m] - lower_[m]);
    return std::log(norm_.Norm(theta));
  };
  FindRoot(log_norm, 0, kPrecision);
  PullInside(theta);
}

// x + lambda scale x^(p-1) = v, then cut. Where lambda is 0 the norm does not bind.
void BoundedNorm::Project(std::span<double> theta, std::span<const double> scales) const {
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

}  // namespace kweave
