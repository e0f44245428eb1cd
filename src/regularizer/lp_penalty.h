// Solves     the small problems of the penalty (Tikhonov) form: r(theta) = mu sum theta for p = 1, mu/2 ||theta||_p^2
//            above, theta >= 0.
// Method     along a ray theta = t d with ||d||_p = 1 all is a function of t; d is that of the constraint. The dual term is
//            ||q||_p*^2 / (8 mu) for p > 1; for p = 1 it is zero as long as no q_m is above 2 mu, else infinite.
//            The solutions are those of the constraint at another C (Kloft et al. 2011, theorem 1).
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

  std::string Name() const override;
  bool is_dual_smooth() const override { return norm_.p() > 1; }
  double Value(std::span<const double> theta) const override;
  /// Where several weights are largest and p is infinite, a subgradient.
  void Gradient(std::span<const double> theta, std::span<double> gradient) const override;
  double DualTerm(std::span<const double> q) const override;
  double dual_degree() const override { return norm_.p() > 1 ? 4 : 0; }
  /// For p = 1, where there is none outside the domain of the dual term, all weight goes to the largest q.
  void BestResponse(std::span<const double> q, std::span<double> theta) const override;
  void Start(std::span<double> theta) const override { norm_.Uniform(theta); }
  void MakeFeasible(std::span<double> theta) const override;
  bool has_analytic_update() const override { return true; }
  void AnalyticUpdate(std::span<const double> theta, std::span<const double> q,
                      std::span<double> updated) const override;
  bool has_projection() const override { return true; }
  void Project(std::span<double> theta) const override { MakeFeasible(theta); }
  double least_step_share() const override { return norm_.p() == 1 ? 0.02 : norm_.p() < 2 ? 1e-6 : 0; }
  std::optional<LinearWeights> linear() const override;

 private:
  double mu_;
  LpNorm norm_;
};

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_LP_PENALTY_H_
