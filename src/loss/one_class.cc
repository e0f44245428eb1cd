#include "loss/one_class.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "loss/piecewise_linear.h"

namespace kweave {

double OneClassLoss::Value(double f, double y) const { return std::max(0.0, -f); }

double OneClassLoss::Dual(double beta, double y, double C) const { return 0; }

Interval OneClassLoss::Feasible(double y, double C) const { return {0, C}; }

DualPiece OneClassLoss::PieceAt(double beta, double f, double y, double C) const { return {{0, C}, 0, 0}; }

double OneClassLoss::BestBias(std::span<const double> f, std::span<const double> y, std::span<const double> C,
                              double slope) const {
  std::vector<Corner> corners;
  corners.reserve(f.size());
  for (std::size_t i = 0; i < f.size(); ++i) {
    corners.push_back({-f[i], C[i]});
    slope -= C[i];
  }
  return LowestPoint(std::move(corners), slope);
}

}  // namespace kweave
