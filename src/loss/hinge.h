#ifndef KWEAVE_LOSS_HINGE_H_
#define KWEAVE_LOSS_HINGE_H_

#include "loss/loss.h"

namespace kweave {

/// l(f, y) = max(0, 1 - y f) with y = +1 or -1; beta = y alpha with alpha in [0, C], and Dual = alpha.
class HingeLoss : public Loss {
 public:
  double Value(double f, double y) const override;
  double Dual(double beta, double y, double C) const override;
  Interval Feasible(double y, double C) const override;
  DualPiece PieceAt(double beta, double f, double y, double C) const override;
  /// O(n log n): the sum is piecewise linear in b, with one corner at y_i - f_i for every sample.
  double BestBias(std::span<const double> f, std::span<const double> y, std::span<const double> C,
                  double slope) const override;
};

}  // namespace kweave

#endif  // KWEAVE_LOSS_HINGE_H_
