// Solves   minimise J(theta) over the simplex (p = 1), within bounds on single weights too, or with a penalty on the sum of the
//          weights instead.
// Method   semi-infinite linear program by column generation (Sonnenburg, Raetsch, Schaefer 2005; their beta
//          is our theta, their theta our z): minimise z subject to z >= L_t - 1/2 theta' q_t for every beta_t
//          found so far (weights/cut_program.h); a penalty is added to the objective. The program's vertex jumps about, so the next
//          solve is made part of the way from the best theta so far to it: half, less while no better theta
//          is found.
// Takes    the evaluation at the last theta, whose beta gives one more cut, exact or not; writes the next
//          theta.
// Holds    the program's value and its multipliers' mixture of the betas bound the optimum from below.
// Costs    one dense row of M values and one beta per cut, at most 500 of them; a few pivots per move.
#ifndef KWEAVE_WEIGHTS_SILP_H_
#define KWEAVE_WEIGHTS_SILP_H_

#include <memory>
#include <vector>

#include "regularizer/regularizer.h"
#include "weights/cut_program.h"
#include "weights/weight_method.h"

namespace kweave {

class Silp : public WeightMethod {
 public:
  explicit Silp(const Regularizer& regularizer);

  void Begin(std::span<double> theta) override;
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  const DualPoint* dual_point() override;
  /// Vertices are far apart: with many kernels, planes for all of them come before the first that helps.
  int patience() const override { return 200; }
  std::int64_t fallbacks() const override { return fallbacks_; }

 private:
  const Regularizer& regularizer_;
  const LinearWeights weights_;
  std::unique_ptr<CutProgram> program_;
  std::vector<double> best_theta_;
  double best_primal_ = 0;
  double share_;  // of the way to the program's theta that the next solve is made at
  DualPoint dual_point_;
  std::int64_t fallbacks_ = 0;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_SILP_H_
