#include "regularizer/entropy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kweave/error.h"
#include "regularizer/lp_projection.h"
#include "regularizer/norms.h"
#include "regularizer/penalty.h"

namespace kweave {

namespace {

// Weights may be as small as exp(-q / mu) times the largest, and the second derivative is mu / theta.
constexpr double kLeastStepShare = 1e-8;

// t log t - t + 1, to the last digits of the result also where t is close to 1: with d = t - 1 it is the sum
// over k >= 2 of (-d)^k / (k (k - 1)).
double EntropyOf(double t) {
  constexpr double kClose = 0.01;  // nine terms of the series leave less than the last place
  const double d = t - 1;
  if (!(std::abs(d) < kClose)) return t > 0 ? t * std::log(t) - d : 1;
  double sum = 0, power = -d;
  for (int k = 2; k <= 10; ++k) {
    power *= -d;
    sum += power / (k * (k - 1));
  }
  return sum;
}

}  // namespace

EntropyPenalty::EntropyPenalty(double mu)
    : Regularizer({.name = fmt::format("penalty {} on the entropy", mu),
                   .dual_degree = 0,
                   .has_projection = true,
                   .least_step_share = kLeastStepShare,
                   .sum_is_one = true}),
      mu_(RequirePenalty(mu)) {}

double EntropyPenalty::Evaluate(std::span<const double> theta, std::span<double> gradient) const {
  const auto count = static_cast<double>(theta.size());
  for (std::size_t m = 0; m < gradient.size(); ++m) {
    gradient[m] = mu_ * std::log(std::max(theta[m], std::numeric_limits<double>::min()) * count);
  }
  // Of terms t log t - t + 1 >= 0 with t = M theta, since weights that are almost equal cost almost nothing:
  // their sum is that of t log t where the weights sum to 1.
  double sum = 0;
  for (const double value : theta) sum += EntropyOf(value * count);
  return mu_ * sum / count;
}

double EntropyPenalty::DualTerm(std::span<const double> q) const {
  const double largest = std::max(*std::max_element(q.begin(), q.end()), 0.0);
  // Of means of exp(x) - 1, since quadratics may be many orders of magnitude below mu.
  double mean = 0;
  for (const double value : q)
    mean += std::expm1((std::max(value, 0.0) - largest) / (2 * mu_)) / static_cast<double>(q.size());
  return 0.5 * largest + mu_ * std::log1p(mean);
}

void EntropyPenalty::BestResponse(std::span<const double> q, std::span<double> theta) const {
  const double largest = *std::max_element(q.begin(), q.end());
  for (std::size_t m = 0; m < q.size(); ++m) {
    theta[m] = std::exp((std::max(q[m], 0.0) - std::max(largest, 0.0)) / (2 * mu_));
  }
  MakeFeasible(theta);
}

void EntropyPenalty::Start(std::span<double> theta) const {
  std::fill(theta.begin(), theta.end(), 1 / static_cast<double>(theta.size()));
}

void EntropyPenalty::MakeFeasible(std::span<double> theta) const {
  DropNegative(theta);
  const double sum = std::accumulate(theta.begin(), theta.end(), 0.0);
  if (!(sum > 0)) return Start(theta);
  for (double& value : theta) value /= sum;
}

void EntropyPenalty::Project(std::span<double> theta, std::span<const double> scales) const {
  ProjectOntoSimplex(theta, scales);
}

}  // namespace kweave
