#include "regularizer/norm_penalty.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kweave/error.h"
#include "regularizer/norms.h"
#include "regularizer/penalty.h"

namespace kweave {

namespace {

// The dual term is f(z) = z^2 / (8 mu), of that of the norm, z / 2.
std::optional<LargestPart> LargestPartOf(double mu, const MixedNorm& norm) {
  std::optional<LargestPart> parts = norm.largest_part();
  if (parts) parts->linear = 0, parts->square = 1 / (8 * mu);
  return parts;
}

}  // namespace

NormPenalty::NormPenalty(double mu, MixedNorm norm)
    : Regularizer({.name = fmt::format("penalty {} with {}", mu, norm.Name()),
                   .is_dual_smooth = norm.is_dual_smooth(),
                   .dual_degree = 4,
                   .has_analytic_update = true,
                   .has_projection = true,
                   .least_step_share = kPenaltyStepShare,
                   .largest_part = LargestPartOf(mu, norm)}),
      mu_(RequirePenalty(mu)),
      norm_(std::move(norm)) {
  if (!norm_.is_minimized()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} has no penalty: its weights are not minimised over", norm_.Name()));
  }
  traits().dual_norm = norm_.dual_norm();
  traits().dual_norm->linear = 0;
  traits().dual_norm->square = 1 / (8 * mu);
}

double NormPenalty::Evaluate(std::span<const double> theta, std::span<double> gradient) const {
  if (gradient.empty()) {
    const double norm = norm_.ThetaNorm(theta);
    return 0.5 * mu_ * norm * norm;
  }
  const double norm = norm_.ThetaNormGradient(theta, gradient);
  for (double& value : gradient) value *= mu_ * norm;
  return 0.5 * mu_ * norm * norm;
}

double NormPenalty::DualTerm(std::span<const double> q) const {
  const double dual = norm_.DualTerm(q);
  return dual * dual / (2 * mu_);
}

void NormPenalty::BestResponse(std::span<const double> q, std::span<double> theta) const {
  norm_.BestResponse(q, theta);
  const double length = norm_.DualTerm(q) / mu_;
  for (double& value : theta) value *= length;
}

void NormPenalty::MakeFeasible(std::span<double> theta) const { DropNegative(theta); }

// On the ray theta = t d: 1/2 s / t + mu/2 t^2 with s = sum_m u_m^2 / d_m.
void NormPenalty::AnalyticUpdate(std::span<const double> theta, std::span<const double> q,
                                 std::span<double> updated) const {
  const std::vector<double> old(theta.begin(), theta.end());
  norm_.AnalyticUpdate(theta, q, updated);
  const double sum = SumAlongRay(old, q, updated);
  const double length = std::cbrt(sum / (2 * mu_));
  for (double& value : updated) value *= length;
}

// The dual term is a square: twice the relative error.
RegularizerPointer NormPenalty::Smoothed(double relative_error) const {
  const RegularizerPointer smoothed = norm_.Smoothed(0.45 * relative_error);
  const auto* norm = dynamic_cast<const MixedNorm*>(smoothed.get());
  return norm == nullptr ? nullptr : std::make_shared<const NormPenalty>(mu_, *norm);
}

}  // namespace kweave
