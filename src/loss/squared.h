#ifndef KWEAVE_LOSS_SQUARED_H_
#define KWEAVE_LOSS_SQUARED_H_

#include "loss/smooth_loss.h"

namespace kweave {

/// l(f, y) = 1/2 (f - y)^2 for real y, so that C l = C/2 (f - y)^2: kernel ridge regression with lambda =
/// 1/C, (K + 1/C) beta + b = y. Any beta is feasible, and Dual = y beta - beta^2 / (2 C).
class SquaredLoss : public SmoothLoss {
 public:
  double Value(double f, double y) const override;
  double Dual(double beta, double y, double C) const override;
  Interval Feasible(double y, double C) const override;
  DualPiece PieceAt(double beta, double f, double y, double C) const override;
  LossDerivatives DerivativesAt(double f, double y) const override;
};

}  // namespace kweave

#endif  // KWEAVE_LOSS_SQUARED_H_
