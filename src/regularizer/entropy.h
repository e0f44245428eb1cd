// Solves     the small problems of weights on the simplex, theta >= 0, sum theta = 1, that are kept near to
//            each other by their entropy: r(theta) = mu sum_m theta_m log(M theta_m), which is 0 for equal
//            weights.
// Method     the dual term is mu log of the mean of exp(q_m / (2 mu)), attained by the softmax of q / (2 mu).
// Takes and  as regularizer.h says.
// returns
// Holds      r >= 0. Its gradient has no bound where a weight is 0; there it is that of the smallest number.
// Costs      O(M); projections O(M log M).
#ifndef KWEAVE_REGULARIZER_ENTROPY_H_
#define KWEAVE_REGULARIZER_ENTROPY_H_

#include <span>
#include <string>

#include "regularizer/regularizer.h"

namespace kweave {

class EntropyPenalty : public Regularizer {
 public:
  /// Throws Error(kUsage) unless mu > 0.
  explicit EntropyPenalty(double mu);

  double Evaluate(std::span<const double> theta, std::span<double> gradient) const override;
  double DualTerm(std::span<const double> q) const override;
  void BestResponse(std::span<const double> q, std::span<double> theta) const override;
  void Start(std::span<double> theta) const override;
  void MakeFeasible(std::span<double> theta) const override;
  using Regularizer::Project;
  void Project(std::span<double> theta, std::span<const double> scales) const override;

 private:
  double mu_;
};

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_ENTROPY_H_
