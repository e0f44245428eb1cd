#ifndef KWEAVE_LOSS_ONE_CLASS_H_
#define KWEAVE_LOSS_ONE_CLASS_H_

#include "loss/loss.h"

namespace kweave {

/// l(f, y) = max(0, -f) for a one-class machine whose bias is minus its threshold rho, with the slope 1 of
/// the bias in its risk; y is ignored. beta in [0, C], Dual = 0. A risk of this loss and that slope is
/// bounded below when the C_i sum to 1 or more.
class OneClassLoss : public Loss {
 public:
  double Value(double f, double y) const override;
  double Dual(double beta, double y, double C) const override;
  Interval Feasible(double y, double C) const override;
  DualPiece PieceAt(double beta, double f, double y, double C) const override;
  double BestBias(std::span<const double> f, std::span<const double> y, std::span<const double> C,
                  double slope) const override;
};

}  // namespace kweave

#endif  // KWEAVE_LOSS_ONE_CLASS_H_
