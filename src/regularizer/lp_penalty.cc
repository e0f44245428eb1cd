#include "regularizer/lp_penalty.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kweave/error.h"
#include "regularizer/norms.h"
#include "regularizer/penalty.h"

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
    : Regularizer({.name = fmt::format("penalty {} with norm {}", mu, p),
                   .is_dual_smooth = p > 1,
                   .dual_degree = p > 1 ? 4.0 : 0.0,
                   .has_analytic_update = true,
                   .has_projection = true,
                   .least_step_share = LeastStepShare(p),
                   .linear = LinearOf(mu, p)}),
      mu_(RequirePenalty(mu)),
      norm_(p) {
  if (p == 1) return;
  traits().dual_norm = norm_.dual_norm();
  traits().dual_norm->linear = 0;
  traits().dual_norm->square = 1 / (8 * mu);
}

// The gradient of mu/2 ||theta||^2 is mu ||theta|| (theta_m / ||theta||)^(p-1).
double LpPenalty::Evaluate(std::span<const double> theta, std::span<double> gradient) const {
  const double norm = norm_.Norm(theta), p = norm_.p();
  if (p == 1) {
    std::ranges::fill(gradient, mu_);
    return mu_ * norm;
  }
  if (norm == 0 || std::isinf(p)) std::ranges::fill(gradient, 0.0);
  if (std::isinf(p) && !gradient.empty()) {
    const auto largest = std::max_element(theta.begin(), theta.end()) - theta.begin();
    gradient[static_cast<std::size_t>(largest)] = mu_ * norm;
  } else if (norm > 0) {
    for (std::size_t m = 0; m < gradient.size(); ++m) {
      gradient[m] = mu_ * norm * std::pow(std::max(theta[m], 0.0) / norm, p - 1);
    }
  }
  return 0.5 * mu_ * norm * norm;
}

double LpPenalty::DualTerm(std::span<const double> q) const {
  const double dual = norm_.Dual(q);
  if (norm_.p() == 1) return dual <= 2 * mu_ ? 0 : std::numeric_limits<double>::infinity();
  return dual * dual / (8 * mu_);
}

void LpPenalty::BestResponse(std::span<const double> q, std::span<double> theta) const {
  norm_.BestResponse(q, theta);
  const double length = norm_.Dual(q) / (2 * mu_);
  for (double& value : theta) value *= length;
}

void LpPenalty::MakeFeasible(std::span<double> theta) const { DropNegative(theta); }

// On the ray theta = t d: 1/2 N / t + r(t d) with N = sum_m u_m^2 / d_m.
void LpPenalty::AnalyticUpdate(std::span<const double> theta, std::span<const double> q,
                               std::span<double> updated) const {
  const std::vector<double> old(theta.begin(), theta.end());
  norm_.AnalyticUpdate(theta, q, updated);
  const double sum = SumAlongRay(old, q, updated);
  const double length = norm_.p() == 1 ? std::sqrt(sum / (2 * mu_)) : std::cbrt(sum / (2 * mu_));
  for (double& value : updated) value *= length;
}

}  // namespace kweave
