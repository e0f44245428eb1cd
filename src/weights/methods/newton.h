// Solves   minimise J(theta) over theta >= 0, ||theta||_p <= 1, for every p from 1 to infinity.
// Method   Newton steps on theta (weights/methods/newton_step.h) from the first solve on, for p = 1 in the
//          spirit of Chapelle and Rakotomamonjy, Second order optimization of kernel parameters (2008). Kloft
//          et al. (2009) take Newton steps for theta with the parts w_m held, where the second derivative is
//          diagonal; their limit is the closed form of weights/baselines/analytic.h. Here the machine moves
//          along to second order, so that few steps do for every p. For p = infinity every weight is 1. A
//          step that raised J is cut back (weights/models/backtracking.h).
// Takes    the evaluation at the last theta; writes the next one, and the model's beta.
// Holds    theta is feasible, with ||theta||_p = 1.
// Costs    one local model and one saddle problem per step, with at most 512 directions.
#ifndef KWEAVE_WEIGHTS_METHODS_NEWTON_H_
#define KWEAVE_WEIGHTS_METHODS_NEWTON_H_

#include <cstdint>

#include "regularizer/lp_norm.h"
#include "weights/models/backtracking.h"
#include "weights/run/weight_method.h"

namespace kweave {

class Newton : public WeightMethod {
 public:
  /// The regulariser, which must outlive this, is a norm of theta.
  explicit Newton(const Regularizer& regularizer)
      : norm_(*regularizer.lp_norm()), backtracking_(regularizer) {}

  void Begin(std::span<double> theta) override { norm_.Uniform(theta); }
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  bool needs_precision() const override { return true; }
  const DualPoint* dual_point() override { return dual_point_.beta.empty() ? nullptr : &dual_point_; }
  std::int64_t fallbacks() const override { return fallbacks_; }

 private:
  const LpNorm& norm_;
  Backtracking backtracking_;
  DualPoint dual_point_;  // of the last step
  std::int64_t fallbacks_ = 0;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHODS_NEWTON_H_
