// Solves   minimise r(theta) + J(theta) for every regulariser with an analytic update, above all theta >= 0,
//          ||theta||_p <= 1.
// Method   what `auto` takes for most norms: the updates of weights/baselines/analytic.h, kept away from
//          zero, while those are enough, and where they would need many more solves, and the constraint is a
//          norm, the Newton steps of weights/methods/newton_step.h. A declared mixture of two methods, each
//          of which runs alone under its own name.
// Takes    the evaluation at the last theta; writes the next one, and after a Newton step the model's beta.
// Holds    theta is feasible, with ||theta||_p = 1; the point kept to cut back to has the smallest J of all
//          accepted ones.
// Costs    O(M) per update; a Newton step what its two parts cost, with at most a hundred directions.
#ifndef KWEAVE_WEIGHTS_METHODS_ANALYTIC_NEWTON_H_
#define KWEAVE_WEIGHTS_METHODS_ANALYTIC_NEWTON_H_

#include <cstddef>

#include "regularizer/lp_norm.h"
#include "weights/models/backtracking.h"
#include "weights/run/weight_method.h"

namespace kweave {

class AnalyticNewton : public WeightMethod {
 public:
  explicit AnalyticNewton(const Regularizer& regularizer);

  void Begin(std::span<double> theta) override { regularizer_.Start(theta); }
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  bool needs_precision() const override { return norm_ != nullptr && norm_->p() == 1; }
  double hoped_rate() const override;
  const DualPoint* dual_point() override { return dual_point_.beta.empty() ? nullptr : &dual_point_; }

 private:
  enum class Step { kNone, kUpdate, kNewton, kCut };

  bool UpdateCrawls(const RunState& state) const;

  const Regularizer& regularizer_;
  const LpNorm* norm_;  // the same, where it is a norm of theta; else null
  Backtracking backtracking_;
  double previous_gap_ = 1;   // relative, when the last step was accepted
  DualPoint dual_point_;      // of the last Newton step
  std::size_t most_bounded_;  // samples of the next local model
  Step last_step_ = Step::kNone;
  double update_rate_ = 0.5;         // of the gap, by the last update; a typical one at first
  bool was_newton_partial_ = false;  // the last Newton step moved kernels in groups
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHODS_ANALYTIC_NEWTON_H_
