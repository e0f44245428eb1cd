#ifndef KWEAVE_LOSS_SQUARED_HINGE_H_
#define KWEAVE_LOSS_SQUARED_HINGE_H_

#include "loss/smooth_loss.h"

namespace kweave {

/// l(f, y) = 1/2 max(0, 1 - y f)^2 with y = +1 or -1; beta = y alpha with alpha >= 0, and
/// Dual = alpha - alpha^2 / (2 C).
class SquaredHingeLoss : public SmoothLoss {
 public:
  double Value(double f, double y) const override;
  double Dual(double beta, double y, double C) const override;
  Interval Feasible(double y, double C) const override;
  DualPiece PieceAt(double beta, double f, double y, double C) const override;
  LossDerivatives DerivativesAt(double f, double y) const override;
  /// Where several cost nothing at all, the middle one.
  double BestBias(std::span<const double> f, std::span<const double> y, std::span<const double> C,
                  double slope) const override;
};

}  // namespace kweave

#endif  // KWEAVE_LOSS_SQUARED_HINGE_H_
