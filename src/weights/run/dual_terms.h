// The part of the dual problem that belongs to the loss, as the solvers in qp take it.
#ifndef KWEAVE_WEIGHTS_RUN_DUAL_TERMS_H_
#define KWEAVE_WEIGHTS_RUN_DUAL_TERMS_H_

#include <span>
#include <vector>

#include "loss/risk.h"
#include "qp/dual_problem.h"

namespace kweave {

/// -L(beta) = sum_i linear_i beta_i + kink_i |beta_i| + 1/2 curvature_i beta_i^2 on lower <= beta <= upper:
/// the risk of a loss whose dual is a quadratic function on either side of 0.
class DualTerms {
 public:
  explicit DualTerms(const Risk& risk);

  /// Refers to the terms.
  DualProblem problem() const { return {linear_, lower_, upper_, kink_, curvature_, has_sum_}; }
  /// From the outputs f = K beta to the gradient that a SolverState holds, in place, and back.
  void OutputsToGradient(std::span<const double> beta, std::span<double> values) const;
  void GradientToOutputs(std::span<const double> beta, std::span<double> values) const;

 private:
  std::vector<double> linear_, lower_, upper_;
  std::vector<double> kink_, curvature_;  // empty where all are zero
  bool has_sum_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_DUAL_TERMS_H_
