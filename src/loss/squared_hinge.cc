#include "loss/squared_hinge.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/constants.h"

namespace kweave {

namespace {}

double SquaredHingeLoss::Value(double f, double y) const {
  const double miss = std::max(0.0, 1 - y * f);
  return 0.5 * miss * miss;
}

double SquaredHingeLoss::Dual(double beta, double y, double C) const { return beta * (y - 0.5 * beta / C); }

Interval SquaredHingeLoss::Feasible(double y, double C) const {
  return y > 0 ? Interval{0, kInfinity} : Interval{-kInfinity, 0};
}

DualPiece SquaredHingeLoss::PieceAt(double beta, double f, double y, double C) const {
  return {Feasible(y, C), y - beta / C, 1 / C};
}

LossDerivatives SquaredHingeLoss::DerivativesAt(double f, double y) const {
  const double miss = 1 - y * f;
  return miss > 0 ? LossDerivatives{-y * miss, 1} : LossDerivatives{};
}

double SquaredHingeLoss::BestBias(std::span<const double> f, std::span<const double> y,
                                  std::span<const double> C, double slope) const {
  Interval free{-kInfinity, kInfinity};  // of b without any loss
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (y[i] > 0) {
      free.lower = std::max(free.lower, 1 - f[i]);
    } else {
      free.upper = std::min(free.upper, -1 - f[i]);
    }
  }
  if (slope != 0 || free.lower > free.upper) return SmoothLoss::BestBias(f, y, C, slope);
  if (std::isinf(free.upper)) return std::isinf(free.lower) ? 0 : free.lower;
  return std::isinf(free.lower) ? free.upper : std::midpoint(free.lower, free.upper);
}

}  // namespace kweave
