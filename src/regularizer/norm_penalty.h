// The penalty form of a norm over groups of kernels (regularizer/mixed_norm.h): r(theta) = mu/2 N(theta)^2.
// regularizer/penalty.h says the rest.
#ifndef KWEAVE_REGULARIZER_NORM_PENALTY_H_
#define KWEAVE_REGULARIZER_NORM_PENALTY_H_

#include <span>

#include "regularizer/mixed_norm.h"
#include "regularizer/penalty.h"

namespace kweave {

class NormPenalty : public Penalty<MixedNorm> {
 public:
  /// Throws Error(kUsage) unless mu > 0 and the exponents of the norm are at most 2.
  NormPenalty(double mu, const MixedNorm& norm);

  double Evaluate(std::span<const double> theta, std::span<double> gradient) const override;
  RegularizerPointer Smoothed(double relative_error) const override;
};

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_NORM_PENALTY_H_
