// Solves     the small problems of the penalty (Tikhonov) form: r(theta) = mu sum theta for p = 1, mu/2
//            ||theta||_p^2 above, theta >= 0.
// Method     along a ray theta = t d with ||d||_p = 1 all is a function of t; d is that of the constraint.
//            The dual term is ||q||_p*^2 / (8 mu) for p > 1; for p = 1 it is zero as long as no q_m is above
//            2 mu, else infinite. The solutions are those of the constraint at another C (Kloft et al. 2011,
//            theorem 1).
// Takes and  as regularizer.h says.
// returns
// Holds      theta >= 0 is all that feasible means.
// Costs      O(M).
#ifndef KWEAVE_REGULARIZER_LP_PENALTY_H_
#define KWEAVE_REGULARIZER_LP_PENALTY_H_

#include <span>
#include <string>

#include "regularizer/lp_norm.h"

namespace kweave {

class LpPenalty : public Regularizer {
 public:
  /// Throws Error(kUsage) unless mu > 0 and 1 <= p <= infinity.
  LpPenalty(double mu, double p);

  /// Where several weights are largest and p is infinite, the gradient is a subgradient.
  double Evaluate(std::span<const double> theta, std::span<double> gradient) const override;
  double DualTerm(std::span<const double> q) const override;
  /// For p = 1, where there is none outside the domain of the dual term, all weight goes to the largest q.
  void BestResponse(std::span<const double> q, std::span<double> theta) const override;
  void Start(std::span<double> theta) const override { norm_.Uniform(theta); }
  void MakeFeasible(std::span<double> theta) const override;
  void AnalyticUpdate(std::span<const double> theta, std::span<const double> q,
                      std::span<double> updated) const override;
  using Regularizer::Project;
  void Project(std::span<double> theta, std::span<const double>) const override { MakeFeasible(theta); }

 private:
  double mu_;
  LpNorm norm_;
};

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_LP_PENALTY_H_
