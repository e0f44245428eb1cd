// Solves     the small problems of a penalty on a mixed norm of the weights: r(theta) = mu/2 N(theta)^2,
//            theta >= 0, where N(theta) <= 1 is what the constraint over groups of kernels asks for
//            (regularizer/mixed_norm.h).
// Method     along a ray theta = t d with N(d) = 1 all is a function of t; d is that of the constraint, whose
//            dual term b(q) = N*(q) / 2 makes b^2 / (2 mu).
// Takes and  as regularizer.h says.
// returns
// Holds      theta >= 0 is all that feasible means.
// Costs      what the constraint costs.
#ifndef KWEAVE_REGULARIZER_NORM_PENALTY_H_
#define KWEAVE_REGULARIZER_NORM_PENALTY_H_

#include <span>
#include <string>
#include <vector>

#include "regularizer/mixed_norm.h"

namespace kweave {

class NormPenalty : public Regularizer {
 public:
  /// Throws Error(kUsage) unless mu > 0 and the exponents of the norm are at most 2.
  NormPenalty(double mu, MixedNorm norm);

  double Evaluate(std::span<const double> theta, std::span<double> gradient) const override;
  double DualTerm(std::span<const double> q) const override;
  void BestResponse(std::span<const double> q, std::span<double> theta) const override;
  void Start(std::span<double> theta) const override { norm_.Start(theta); }
  void MakeFeasible(std::span<double> theta) const override;
  void AnalyticUpdate(std::span<const double> theta, std::span<const double> q,
                      std::span<double> updated) const override;
  using Regularizer::Project;
  void Project(std::span<double> theta, std::span<const double>) const override { MakeFeasible(theta); }
  RegularizerPointer Smoothed(double relative_error) const override;

 private:
  double mu_;
  MixedNorm norm_;
};

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_NORM_PENALTY_H_
