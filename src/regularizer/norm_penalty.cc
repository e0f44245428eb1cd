#include "regularizer/norm_penalty.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "kweave/error.h"

namespace kweave {

namespace {

// The dual term is f(z) = z^2 / (8 mu), of that of the norm, z / 2.
std::optional<LargestPart> LargestPartOf(double mu, const MixedNorm& norm) {
  std::optional<LargestPart> parts = norm.largest_part();
  if (parts) parts->linear = 0, parts->square = 1 / (8 * mu);
  return parts;
}

}  // namespace

NormPenalty::NormPenalty(double mu, const MixedNorm& norm)
    : Penalty({.name = fmt::format("penalty {} with {}", mu, norm.Name()),
               .is_dual_smooth = norm.is_dual_smooth(),
               .dual_degree = 4,
               .has_analytic_update = true,
               .has_projection = true,
               .least_step_share = kPenaltyStepShare,
               .largest_part = LargestPartOf(mu, norm)},
              mu, norm, true) {
  if (!norm.is_minimized()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} has no penalty: its weights are not minimised over", norm.Name()));
  }
}

double NormPenalty::Evaluate(std::span<const double> theta, std::span<double> gradient) const {
  const double norm =
      gradient.empty() ? this->norm().ThetaNorm(theta) : this->norm().ThetaNormGradient(theta, gradient);
  for (double& value : gradient) value *= mu() * norm;
  return 0.5 * mu() * norm * norm;
}

// The dual term is a square: twice the relative error.
RegularizerPointer NormPenalty::Smoothed(double relative_error) const {
  const RegularizerPointer smoothed = norm().Smoothed(0.45 * relative_error);
  const auto* norm = dynamic_cast<const MixedNorm*>(smoothed.get());
  return norm == nullptr ? nullptr : std::make_shared<const NormPenalty>(mu(), *norm);
}

}  // namespace kweave
