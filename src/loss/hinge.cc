#include "loss/hinge.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "loss/piecewise_linear.h"

namespace kweave {

double HingeLoss::Value(double f, double y) const { return std::max(0.0, 1 - y * f); }

double HingeLoss::Dual(double beta, double y, double C) const { return y * beta; }

Interval HingeLoss::Feasible(double y, double C) const { return y > 0 ? Interval{0, C} : Interval{-C, 0}; }

DualPiece HingeLoss::PieceAt(double beta, double f, double y, double C) const {
  return {Feasible(y, C), y, 0};
}

double HingeLoss::BestBias(std::span<const double> f, std::span<const double> y, std::span<const double> C,
                           double slope) const {
  std::vector<Corner> corners;
  corners.reserve(f.size());
  for (std::size_t i = 0; i < f.size(); ++i) {
    corners.push_back({y[i] - f[i], C[i]});
    if (y[i] > 0) slope -= C[i];
  }
  return LowestPoint(std::move(corners), slope);
}

}  // namespace kweave
