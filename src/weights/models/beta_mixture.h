// Solves   the best lower bound that the betas of all solves so far give together: max over w >= 0, sum w = 1
//          of D(sum_t w_t beta_t).
// Method   that of weights/models/bundle.h. Where the dual has kinks, or nearly (norms close to 1), the beta
//          of one solve closes the gap slowly, their best mixture fast. Kinks that are not those of a maximum
//          are smoothed by less than the gap.
// Takes    the evaluation of each solve, as it comes; returns the mixture and its bound. It says nothing of
//          where theta goes.
// Holds    the mixture is feasible.
// Costs    those of the bundle: per solve one product with every beta kept.
#ifndef KWEAVE_WEIGHTS_MODELS_BETA_MIXTURE_H_
#define KWEAVE_WEIGHTS_MODELS_BETA_MIXTURE_H_

#include "regularizer/regularizer.h"
#include "weights/models/bundle.h"
#include "weights/run/weight_method.h"

namespace kweave {

class BetaMixture {
 public:
  /// Of a regulariser, which must outlive this, whose weights are minimised over.
  explicit BetaMixture(const Regularizer& regularizer) : regularizer_(regularizer) {}

  /// Whether a mixture is worth its cost for this regulariser.
  static bool Helps(const Regularizer& regularizer);

  void Add(const Evaluation& last, const Machine& machine, const RunState& state);
  /// Null before the first.
  const DualPoint* best() const { return best_.beta.empty() ? nullptr : &best_; }

 private:
  BundlePoint Best(const Evaluation& last, double relative_gap);

  const Regularizer& regularizer_;
  Bundle bundle_;
  const Gram* gram_ = nullptr;  // the kernels that the bundle's numbers come from
  DualPoint best_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_BETA_MIXTURE_H_
