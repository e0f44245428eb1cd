// Solves   minimise r(theta) + J(theta) for every regulariser with weights to minimise over and a smooth dual
//          term (norms above 1, penalties, mixed, matrix and elastic norms, bounds on single weights). Norm
//          1: weights/baselines/silp.h.
// Method   semi-infinite program by cutting planes (Kloft et al. 2011, algorithm 3; Kloft 2011, algorithm
//          D.1): every solve gives a cut z >= L_t - 1/2 theta' q_t, and the next theta is where the highest
//          of all cuts, with r, is lowest. The papers approach that theta by a sequence of Taylor expansions
//          of the norm (weights/baselines/cutting_plane_taylor.h); here it is found through the dual over the
//          cuts, max over w of sum_t w_t L_t - R*(sum_t w_t q_t) (weights/models/mixture.h).
// Takes    the evaluation at the last theta, whose beta gives one more cut; writes the next theta.
// Holds    the value over the cuts and the mixture of the betas by w bound the optimum from below.
// Costs    one row of M values and one beta per cut, at most 120 of them; per move some Newton steps in w.
#ifndef KWEAVE_WEIGHTS_BASELINES_CUTTING_PLANE_H_
#define KWEAVE_WEIGHTS_BASELINES_CUTTING_PLANE_H_

#include <vector>

#include "regularizer/regularizer.h"
#include "weights/baselines/cuts.h"
#include "weights/run/weight_method.h"

namespace kweave {

class CuttingPlane : public WeightMethod {
 public:
  explicit CuttingPlane(const Regularizer& regularizer) : regularizer_(regularizer) {}

  void Begin(std::span<double> theta) override { regularizer_.Start(theta); }
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  const DualPoint* dual_point() override { return dual_point_.beta.empty() ? nullptr : &dual_point_; }
  int patience() const override { return kBaselinePatience; }

 private:
  const Regularizer& regularizer_;
  Cuts cuts_;
  std::vector<double> mixture_;  // w of the last move
  DualPoint dual_point_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_BASELINES_CUTTING_PLANE_H_
