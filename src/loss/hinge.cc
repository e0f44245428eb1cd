#include "loss/hinge.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace kweave {

double HingeLoss::Value(double f, double y) const { return std::max(0.0, 1 - y * f); }

double HingeLoss::Dual(double beta, double y, double C) const { return y * beta; }

Interval HingeLoss::Feasible(double y, double C) const { return y > 0 ? Interval{0, C} : Interval{-C, 0}; }

DualPiece HingeLoss::PieceAt(double beta, double f, double y, double C) const {
  return {Feasible(y, C), y, 0};
}

double HingeLoss::BestBias(std::span<const double> f, std::span<const double> y, std::span<const double> C,
                           double slope) const {
  if (f.empty()) return 0;
  // Left of all corners the positive samples are all active, the negative ones all satisfied; every corner
  // passed adds its C to the slope.
  std::vector<std::pair<double, double>> corners(f.size());
  double total = std::abs(slope);
  for (std::size_t i = 0; i < f.size(); ++i) {
    corners[i] = {y[i] - f[i], C[i]};
    if (y[i] > 0) slope -= C[i];
    total += C[i];
  }
  std::sort(corners.begin(), corners.end());
  const double zero = 1e-13 * total;  // the sum of the slopes is exact only up to rounding
  if (slope >= -zero) return corners.front().first;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    slope += corners[i].second;
    if (slope > zero) return corners[i].first;
    if (slope >= -zero && i + 1 < corners.size())
      return std::midpoint(corners[i].first, corners[i + 1].first);
  }
  return corners.back().first;
}

}  // namespace kweave
