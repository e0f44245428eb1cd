#ifndef KWEAVE_LOSS_SMOOTH_LOSS_H_
#define KWEAVE_LOSS_SMOOTH_LOSS_H_

#include "loss/loss.h"

namespace kweave {

/// Derivatives of a loss in f.
struct LossDerivatives {
  double first = 0;
  double second = 0;  ///< one of them where the first derivative has a corner
};

/// A loss with a continuous derivative. Its best dual variable follows from f: beta = -C l'(f, y), feasible
/// for every f.
class SmoothLoss : public Loss {
 public:
  virtual LossDerivatives DerivativesAt(double f, double y) const = 0;

  const SmoothLoss* smooth() const final { return this; }

  /// Newton steps on the derivative, kept within a bracket of its zero; O(n) each, a handful of them.
  double BestBias(std::span<const double> f, std::span<const double> y, std::span<const double> C,
                  double slope) const override;
};

}  // namespace kweave

#endif  // KWEAVE_LOSS_SMOOTH_LOSS_H_
