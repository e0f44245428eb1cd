// Solves   the two small problems of the constraint theta >= 0, ||theta||_p <= 1, for 1 <= p <= infinity.
// Method   closed forms by Hoelder's inequality; the weight update of Kloft et al. (2011), eq. (17).
// Takes    quadratics q (any sign) and weights; returns norms and weights.
// Holds    every theta returned is nonnegative with ||theta||_p = 1, or all zero where no kernel helps.
// Costs    O(M); no overflow or underflow for any p and any finite input: all powers are of
//          ratios to the maximum.
#ifndef KWEAVE_REGULARIZER_LP_NORM_H_
#define KWEAVE_REGULARIZER_LP_NORM_H_

#include <span>
#include <string>

#include "regularizer/regularizer.h"

namespace kweave {

class LpNorm : public Regularizer {
 public:
  /// Throws Error(kUsage) unless 1 <= p <= infinity.
  explicit LpNorm(double p);

  double p() const { return p_; }
  /// The conjugate exponent p*, 1/p + 1/p* = 1.
  double conjugate() const;

  /// ||theta||_p.
  double Norm(std::span<const double> theta) const;

  /// max of theta' q over the constraint: ||max(q, 0)||_p*.
  double Dual(std::span<const double> q) const;
  double DualTerm(std::span<const double> q) const override { return 0.5 * Dual(q); }

  /// A theta that attains Dual(q). For p = 1 all of it goes to the (first) largest q; for p = infinity to all
  /// positive q alike.
  void BestResponse(std::span<const double> q, std::span<double> theta) const override;

  /// Minimises sum_m ||w_m||^2 / (2 theta_m) with ||w_m||^2 = theta_m^2 q_m: theta_m ~ (theta_m^2
  /// q_m)^(1/(p+1)). Kernels with q_m <= 0 or theta_m = 0 get weight zero. May work in place.
  void AnalyticUpdate(std::span<const double> theta, std::span<const double> q,
                      std::span<double> updated) const override;

  /// Equal weights of norm one.
  void Uniform(std::span<double> theta) const;
  void Start(std::span<double> theta) const override { Uniform(theta); }

  /// Scales theta >= 0 to ||theta||_p = 1; leaves zero alone.
  void Normalize(std::span<double> theta) const;

  /// Nearest cheap feasible point: negative weights become 0, a norm above one is scaled to one.
  void MakeFeasible(std::span<double> theta) const override;

  using Regularizer::Project;
  void Project(std::span<double> theta, std::span<const double> scales) const override;

 private:
  double p_;
};

/// theta >= 0, ||theta||_p <= 1, to be shared.
RegularizerPointer LpConstraint(double p);

/// Whether it is ||theta||_inf <= 1, where there is but one theta to choose.
bool IsUniformSum(const Regularizer& regularizer);

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_LP_NORM_H_
