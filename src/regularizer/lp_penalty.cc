#include "regularizer/lp_penalty.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regularizer/norms.h"

namespace kweave {

namespace {

double LeastStepShare(double p) {
  if (p == 1) return kSparseStepShare;
  return p < 2 ? kPenaltyStepShare : 0;
}

std::optional<LinearWeights> LinearOf(double mu, double p) {
  if (p != 1) return std::nullopt;
  return LinearWeights{.cost = mu, .total = std::numeric_limits<double>::infinity()};
}

}  // namespace

LpPenalty::LpPenalty(double mu, double p)
    : Penalty({.name = fmt::format("penalty {} with norm {}", mu, p),
               .is_dual_smooth = p > 1,
               .dual_degree = p > 1 ? 4.0 : 0.0,
               .has_analytic_update = true,
               .has_projection = true,
               .least_step_share = LeastStepShare(p),
               .linear = LinearOf(mu, p)},
              mu, LpNorm(p), p != 1) {}

// The gradient of mu/2 ||theta||^2 is mu ||theta|| (theta_m / ||theta||)^(p-1).
double LpPenalty::Evaluate(std::span<const double> theta, std::span<double> gradient) const {
  const double norm = this->norm().Norm(theta), p = this->norm().p();
  if (p == 1) {
    std::ranges::fill(gradient, mu());
    return mu() * norm;
  }
  if (norm == 0 || std::isinf(p)) std::ranges::fill(gradient, 0.0);
  if (std::isinf(p) && !gradient.empty()) {
    const auto largest = std::max_element(theta.begin(), theta.end()) - theta.begin();
    gradient[static_cast<std::size_t>(largest)] = mu() * norm;
  } else if (norm > 0) {
    for (std::size_t m = 0; m < gradient.size(); ++m) {
      gradient[m] = mu() * norm * std::pow(std::max(theta[m], 0.0) / norm, p - 1);
    }
  }
  return 0.5 * mu() * norm * norm;
}

}  // namespace kweave
