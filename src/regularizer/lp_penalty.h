// The penalty (Tikhonov) form of ||theta||_p <= 1: r(theta) = mu sum theta for p = 1, mu/2 ||theta||_p^2
// above. Costs O(M). regularizer/penalty.h says the rest.
#ifndef KWEAVE_REGULARIZER_LP_PENALTY_H_
#define KWEAVE_REGULARIZER_LP_PENALTY_H_

#include <span>

#include "regularizer/lp_norm.h"
#include "regularizer/penalty.h"

namespace kweave {

class LpPenalty : public Penalty<LpNorm> {
 public:
  /// Throws Error(kUsage) unless mu > 0 and 1 <= p <= infinity.
  LpPenalty(double mu, double p);

  /// Where several weights are largest and p is infinite, the gradient is a subgradient.
  double Evaluate(std::span<const double> theta, std::span<double> gradient) const override;
};

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_LP_PENALTY_H_
