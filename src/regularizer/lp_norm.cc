#include "regularizer/lp_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/constants.h"
#include "kweave/error.h"
#include "regularizer/lp_projection.h"
#include "regularizer/norms.h"

namespace kweave {

LpNorm::LpNorm(double p)
    : Regularizer({.name = fmt::format("norm {}", p),
                   .is_lp_norm = true,
                   .is_dual_smooth = p > 1,
                   .has_analytic_update = true,
                   .has_projection = true,
                   .least_step_share = p == 1 ? kSparseStepShare : 0,
                   .linear = p == 1 ? std::optional(LinearWeights{}) : std::nullopt}),
      p_(p) {
  if (!(p >= 1)) throw Error(ErrorKind::kUsage, {"norm", fmt::format("{}", p), "1 to inf"});
  traits().dual_norm = DualNorm{.inner = conjugate(), .outer = conjugate()};
}

double LpNorm::conjugate() const { return ConjugateExponent(p_); }

double LpNorm::Norm(std::span<const double> theta) const { return PositiveNorm(theta, p_); }

double LpNorm::Dual(std::span<const double> q) const { return PositiveNorm(q, conjugate()); }

void LpNorm::BestResponse(std::span<const double> q, std::span<double> theta) const {
  const double largest = LargestPositive(q);
  std::fill(theta.begin(), theta.end(), 0.0);
  if (largest == 0) return;
  if (p_ == 1) {
    theta[static_cast<std::size_t>(std::find(q.begin(), q.end(), largest) - q.begin())] = 1;
    return;
  }
  const double exponent = p_ == kInfinity ? 0 : 1 / (p_ - 1);
  for (std::size_t m = 0; m < q.size(); ++m) {
    if (q[m] > 0) theta[m] = std::pow(q[m] / largest, exponent);
  }
  Normalize(theta);
}

void LpNorm::AnalyticUpdate(std::span<const double> theta, std::span<const double> q,
                            std::span<double> updated) const {
  const double largest_theta = LargestPositive(theta);
  const double largest_q = LargestPositive(q);
  const double exponent = p_ == kInfinity ? 0 : 1 / (p_ + 1);
  for (std::size_t m = 0; m < q.size(); ++m) {
    if (theta[m] > 0 && q[m] > 0) {
      // Two powers: the square of a small ratio would underflow before the root brings it back.
      updated[m] = std::pow(theta[m] / largest_theta, 2 * exponent) * std::pow(q[m] / largest_q, exponent);
    } else {
      updated[m] = 0;
    }
  }
  Normalize(updated);
}

void LpNorm::Uniform(std::span<double> theta) const {
  std::fill(theta.begin(), theta.end(), 1.0);
  Normalize(theta);
}

void LpNorm::Normalize(std::span<double> theta) const {
  const double largest = LargestPositive(theta);
  if (largest == 0) return;
  for (double& value : theta) value /= largest;
  const double norm = Norm(theta);
  for (double& value : theta) value /= norm;
}

void LpNorm::MakeFeasible(std::span<double> theta) const {
  DropNegative(theta);
  if (Norm(theta) > 1) Normalize(theta);
}

void LpNorm::Project(std::span<double> theta, std::span<const double> scales) const {
  ProjectOntoLpBall(p_, theta, scales);
}

const LpNorm* Regularizer::lp_norm() const {
  return traits_.is_lp_norm ? static_cast<const LpNorm*>(this) : nullptr;
}

RegularizerPointer LpConstraint(double p) { return std::make_shared<const LpNorm>(p); }

bool IsUniformSum(const Regularizer& regularizer) {
  return regularizer.lp_norm() != nullptr && regularizer.lp_norm()->p() == kInfinity;
}

}  // namespace kweave
