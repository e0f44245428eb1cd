// Solves     the small problems of ||theta||_p <= 1 with bounds on single weights, 0 <= lower <= theta <=
//            upper.
// Method     at the largest theta' q all weights inside their bounds are (q_m / lambda)^(1/(p-1)): a search
//            for lambda; for p = 1, where all is linear, weight is given out by falling q. The nearest theta
//            is that of the norm alone (regularizer/lp_projection.h), cut at the bounds, with a search for
//            its lambda.
// Takes and  as regularizer.h says.
// returns
// Holds      theta is feasible.
// Costs      some tens of passes over M values; a sort for p = 1.
#ifndef KWEAVE_REGULARIZER_BOUNDED_NORM_H_
#define KWEAVE_REGULARIZER_BOUNDED_NORM_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "regularizer/lp_norm.h"

namespace kweave {

class BoundedNorm : public Regularizer {
 public:
  /// Throws Error(kUsage) when no theta meets the bounds and the norm.
  BoundedNorm(double p, std::vector<double> lower, std::vector<double> upper);

  double DualTerm(std::span<const double> q) const override;
  void BestResponse(std::span<const double> q, std::span<double> theta) const override;
  void Start(std::span<double> theta) const override;
  /// Moves into the bounds, then towards the lower ones until the norm is met.
  void MakeFeasible(std::span<double> theta) const override;
  using Regularizer::Project;
  void Project(std::span<double> theta, std::span<const double> scales) const override;

 private:
  void PullInside(std::span<double> theta) const;

  LpNorm norm_;
  std::vector<double> lower_, upper_;
  std::vector<double> log_lower_, log_upper_, lower_power_, upper_power_;  // logarithms, p-th powers
};

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_BOUNDED_NORM_H_
