#ifndef KWEAVE_LOSS_LOGISTIC_H_
#define KWEAVE_LOSS_LOGISTIC_H_

#include "loss/smooth_loss.h"

namespace kweave {

/// l(f, y) = log(1 + exp(sharpness (margin - y f))) / sharpness with y = +1 or -1. Sharpness 1 and margin 0
/// are logistic regression; margin 1 is the smoothed soft margin of Sonnenburg, Raetsch, Schaefer (2005),
/// section 3, which tends to the hinge as the sharpness, their sigma, grows. beta = y alpha with alpha in [0,
/// C], and with s = alpha / C, Dual = margin alpha - (C / sharpness) (s log s + (1 - s) log(1 - s)).
class LogisticLoss : public SmoothLoss {
 public:
  explicit LogisticLoss(double sharpness = 1, double margin = 0) : sharpness_(sharpness), margin_(margin) {}
  double Value(double f, double y) const override;
  double Dual(double beta, double y, double C) const override;
  Interval Feasible(double y, double C) const override;
  /// The derivatives grow without end towards the ends of the interval; they are those a little inside it
  /// there.
  DualPiece PieceAt(double beta, double f, double y, double C) const override;
  LossDerivatives DerivativesAt(double f, double y) const override;

 private:
  double sharpness_;
  double margin_;
};

}  // namespace kweave

#endif  // KWEAVE_LOSS_LOGISTIC_H_
