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

LpPenalty::LpPenalty(double mu, double p) : mu_(RequirePenalty(mu)), norm_(p) {}

std::string LpPenalty::Name() const { return fmt::format("penalty {} with norm {}", mu_, norm_.p()); }

double LpPenalty::Value(std::span<const double> theta) const {
  const double norm = norm_.Norm(theta);
  return norm_.p() == 1 ? mu_ * norm : 0.5 * mu_ * norm * norm;
}

// Of mu/2 ||theta||^2: mu ||theta|| (theta_m / ||theta||)^(p-1).
void LpPenalty::Gradient(std::span<const double> theta, std::span<double> gradient) const {
  const double norm = norm_.Norm(theta);
  for (std::size_t m = 0; m < theta.size(); ++m) {
    if (norm_.p() == 1) {
      gradient[m] = mu_;
    } else if (norm == 0) {
      gradient[m] = 0;
    } else {
      gradient[m] = mu_ * norm * std::pow(std::max(theta[m], 0.0) / norm, norm_.p() - 1);
    }
  }
  if (!std::isinf(norm_.p())) return;
  const auto largest = std::max_element(theta.begin(), theta.end()) - theta.begin();
  std::fill(gradient.begin(), gradient.end(), 0.0);
  gradient[static_cast<std::size_t>(largest)] = mu_ * norm;
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

std::optional<LinearWeights> LpPenalty::linear() const {
  if (norm_.p() != 1) return std::nullopt;
  return LinearWeights{.cost = mu_, .total = std::numeric_limits<double>::infinity()};
}

}  // namespace kweave
