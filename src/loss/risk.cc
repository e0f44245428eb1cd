#include "loss/risk.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/constants.h"
#include "base/dot.h"

namespace kweave {

namespace {

// Moves every entry of one sign the same share of its way to zero, so that the sum changes by at most
// `change`.
void ShrinkToZero(std::span<double> beta, double change) {
  double available = 0;
  for (const double value : beta) available += change < 0 ? std::max(value, 0.0) : std::max(-value, 0.0);
  if (available == 0) return;
  const double factor = 1 - std::min(std::abs(change) / available, 1.0);
  for (double& value : beta) {
    if (change < 0 ? value > 0 : value < 0) value *= factor;
  }
}

}  // namespace

double RelativeGap(double primal, double dual, double least_size) {
  if (!std::isfinite(primal - dual)) return std::numeric_limits<double>::infinity();
  const double size =
      std::max({std::abs(primal), std::abs(dual), least_size, std::numeric_limits<double>::min()});
  return std::max(primal - dual, 0.0) / size;
}

double Risk::OutputUnit() const {
  if (y.empty() || bias_slope != 0) return 0;
  const auto [low, high] = std::ranges::minmax_element(y);
  return has_bias ? 0.5 * (*high - *low) : std::max(std::abs(*low), std::abs(*high));
}

double Risk::BestBias(std::span<const double> f) const {
  return has_bias ? loss->BestBias(f, y, C, bias_slope) : 0;
}

double Risk::Value(std::span<const double> f, double bias) const {
  double sum = bias_slope * bias;
  for (std::size_t i = 0; i < f.size(); ++i) sum += C[i] * loss->Value(f[i] + bias, y[i]);
  return sum;
}

double Risk::Dual(std::span<const double> beta) const {
  double sum = 0;
  for (std::size_t i = 0; i < beta.size(); ++i) sum += loss->Dual(beta[i], y[i], C[i]);
  return sum;
}

MachineBounds Risk::BoundsAt(std::span<const double> beta, std::span<const double> f) const {
  const double quadratic = Dot(beta, f);
  return {0.5 * quadratic + Value(f, BestBias(f)), Dual(beta) - 0.5 * quadratic, least_size};
}

std::vector<double> Risk::FeasibleStart() const {
  std::vector<double> beta(y.size(), 0.0);
  if (!has_bias) return beta;
  double missing = bias_slope;
  for (std::size_t i = 0; i < beta.size() && missing != 0; ++i) {
    const Interval range = Feasible(i);
    beta[i] = std::clamp(missing, range.lower, range.upper);
    missing -= beta[i];
  }
  return beta;
}

void Risk::MakeFeasible(std::span<double> beta) const {
  double magnitude = std::abs(bias_slope);
  double room = 0;  // towards the upper ends
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const Interval range = Feasible(i);
    beta[i] = std::clamp(beta[i], range.lower, range.upper);
    magnitude += std::abs(beta[i]);
    room += range.upper - beta[i];
  }
  if (!has_bias || std::abs(Sum(beta) - bias_slope) <= kSumRounding * magnitude) return;
  ShrinkToZero(beta, bias_slope - Sum(beta));
  const double missing = bias_slope - Sum(beta);
  if (!(missing > kSumRounding * magnitude)) return;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    beta[i] += std::isinf(room) ? missing / static_cast<double>(beta.size())
                                : std::min(missing / room, 1.0) * (Feasible(i).upper - beta[i]);
  }
}

}  // namespace kweave
