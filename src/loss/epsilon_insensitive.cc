#include "loss/epsilon_insensitive.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "loss/piecewise_linear.h"

namespace kweave {

double EpsilonInsensitiveLoss::Value(double f, double y) const {
  return std::max(0.0, std::abs(f - y) - epsilon_);
}

double EpsilonInsensitiveLoss::Dual(double beta, double y, double C) const {
  return y * beta - epsilon_ * std::abs(beta);
}

Interval EpsilonInsensitiveLoss::Feasible(double y, double C) const { return {-C, C}; }

DualPiece EpsilonInsensitiveLoss::PieceAt(double beta, double f, double y, double C) const {
  const bool is_upper = beta > 0 || (beta == 0 && f < y);
  return is_upper ? DualPiece{{0, C}, y - epsilon_, 0} : DualPiece{{-C, 0}, y + epsilon_, 0};
}

double EpsilonInsensitiveLoss::BestBias(std::span<const double> f, std::span<const double> y,
                                        std::span<const double> C, double slope) const {
  std::vector<Corner> corners;
  corners.reserve(2 * f.size());
  for (std::size_t i = 0; i < f.size(); ++i) {
    corners.push_back({y[i] - f[i] - epsilon_, C[i]});
    corners.push_back({y[i] - f[i] + epsilon_, C[i]});
    slope -= C[i];
  }
  return LowestPoint(std::move(corners), slope);
}

}  // namespace kweave
