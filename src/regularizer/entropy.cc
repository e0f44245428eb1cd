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

}  // namespace

EntropyPenalty::EntropyPenalty(double mu)
    : Regularizer({.name = fmt::format("penalty {} on the entropy", mu),
                   .dual_degree = 0,
                   .has_projection = true,
                   .least_step_share = kLeastStepShare}),
      mu_(RequirePenalty(mu)) {}

double EntropyPenalty::Evaluate(std::span<const double> theta, std::span<double> gradient) const {
  const auto count = static_cast<double>(theta.size());
  for (std::size_t m = 0; m < gradient.size(); ++m) {
    gradient[m] = mu_ * (std::log(std::max(theta[m], std::numeric_limits<double>::min()) * count) + 1);
  }
  double sum = 0;
  for (const double value : theta) {
    if (value > 0) sum += value * std::log(value * count);
  }
  return mu_ * sum;
}

double EntropyPenalty::DualTerm(std::span<const double> q) const {
  const double largest = std::max(*std::max_element(q.begin(), q.end()), 0.0);
  double sum = 0;
  for (const double value : q) sum += std::exp((std::max(value, 0.0) - largest) / (2 * mu_));
  return 0.5 * largest + mu_ * std::log(sum / static_cast<double>(q.size()));
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
