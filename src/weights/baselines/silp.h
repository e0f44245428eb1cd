// Solves   minimise J(theta) over the simplex (p = 1), within bounds on single weights too, or with a penalty
//          on the sum of the weights instead.
// Method   semi-infinite linear program by column generation (Sonnenburg, Raetsch, Schaefer 2005, algorithm
//          1; their beta is our theta, their theta our z): minimise z subject to z >= L_t - 1/2 theta' q_t
//          for every beta_t found so far (weights/baselines/cut_program.h); a penalty is added to the
//          objective. The next theta is the program's.
// Takes    the evaluation at the last theta, whose beta gives one more cut, exact or not; writes the next
//          theta.
// Holds    the program's value and its multipliers' mixture of the betas bound the optimum from below.
// Costs    one dense row of M values and one beta per cut, at most 500 of them; a few pivots per move.
#ifndef KWEAVE_WEIGHTS_BASELINES_SILP_H_
#define KWEAVE_WEIGHTS_BASELINES_SILP_H_

#include <memory>

#include "regularizer/regularizer.h"
#include "weights/baselines/cut_program.h"
#include "weights/run/weight_method.h"

namespace kweave {

class Silp : public WeightMethod {
 public:
  /// The regulariser, which must outlive this, is linear.
  explicit Silp(const Regularizer& regularizer) : regularizer_(regularizer) {}

  void Begin(std::span<double> theta) override;
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  const DualPoint* dual_point() override { return dual_point_.beta.empty() ? nullptr : &dual_point_; }
  int patience() const override { return kBaselinePatience; }
  std::int64_t fallbacks() const override { return fallbacks_; }

 private:
  const Regularizer& regularizer_;
  std::unique_ptr<CutProgram> program_;
  DualPoint dual_point_;
  std::int64_t fallbacks_ = 0;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_BASELINES_SILP_H_
