#ifndef KWEAVE_LOSS_EPSILON_INSENSITIVE_H_
#define KWEAVE_LOSS_EPSILON_INSENSITIVE_H_

#include "loss/loss.h"

namespace kweave {

/// l(f, y) = max(0, |f - y| - epsilon) for real y; beta = alpha - alpha* of the usual pair of duals lies in
/// [-C, C], and Dual = y beta - epsilon |beta|, with a corner at 0.
class EpsilonInsensitiveLoss : public Loss {
 public:
  explicit EpsilonInsensitiveLoss(double epsilon) : epsilon_(epsilon) {}
  double Value(double f, double y) const override;
  double Dual(double beta, double y, double C) const override;
  Interval Feasible(double y, double C) const override;
  DualPiece PieceAt(double beta, double f, double y, double C) const override;
  /// O(n log n): the sum is piecewise linear in b, with corners where f_i + b is epsilon away from y_i.
  double BestBias(std::span<const double> f, std::span<const double> y, std::span<const double> C,
                  double slope) const override;

 private:
  double epsilon_;
};

}  // namespace kweave

#endif  // KWEAVE_LOSS_EPSILON_INSENSITIVE_H_
