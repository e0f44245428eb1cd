#include "regularizer/elastic_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/constants.h"
#include "kweave/error.h"
#include "regularizer/norms.h"

namespace kweave {
ElasticNorm::ElasticNorm(double share)
    : Regularizer({.name = fmt::format("elastic {}", share)}), share_(share) {
  if (!(share > 0 && share <= 1)) {
    throw Error(ErrorKind::kUsage, {"elastic", fmt::format("{}", share), "above 0, at most 1"});
  }
}

double ElasticNorm::Norm(std::span<const double> theta) const {
  return (1 - share_) * PositiveNorm(theta, 1) + share_ * PositiveNorm(theta, 2);
}

double ElasticNorm::Dual(std::span<const double> q) const {
  const double largest = LargestPositive(q);
  if (largest == 0) return 0;
  // In units of the largest q: z is at most that of the l2-norm alone and at least 1, where all weight is on
  // one kernel.
  double low = 1, high = PositiveNorm(q, 2) / (largest * share_);
  const auto excess = [&](double z) {
    double sum = 0;
    for (const double value : q) {
      const double rest = std::max(value / largest - z * (1 - share_), 0.0);
      sum += rest * rest;
    }
    return std::sqrt(sum) - z * share_;
  };
  for (int k = 0; k < kMostRootSteps; ++k) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    (excess(middle) > 0 ? low : high) = middle;
  }
  return largest * high;
}

double ElasticNorm::DualTerm(std::span<const double> q) const { return 0.5 * Dual(q); }

void ElasticNorm::BestResponse(std::span<const double> q, std::span<double> theta) const {
  const double threshold = Dual(q) * (1 - share_);
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] = std::max(q[m] - threshold, 0.0);
  const double norm = Norm(theta);
  for (double& value : theta) value = norm > 0 ? value / norm : 0;
}

void ElasticNorm::Start(std::span<double> theta) const {
  std::fill(theta.begin(), theta.end(), 1.0);
  const double norm = Norm(theta);
  for (double& value : theta) value /= norm;
}

void ElasticNorm::MakeFeasible(std::span<double> theta) const {
  DropNegative(theta);
  const double norm = Norm(theta);
  if (!(norm > 1)) return;
  for (double& value : theta) value /= norm;
}

}  // namespace kweave
