// Solves   minimise J(theta) over theta >= 0, ||theta||_p <= 1, for 1.1 <= p <= 4, where the expansions below
//          settle.
// Method   semi-infinite program by cutting planes as the papers have it (Kloft et al. 2011, algorithm 3;
//          Kloft 2011, algorithm D.1): in place of ||theta||_p^p <= 1 stands its second-order Taylor
//          expansion around the last theta, the lowest point of all cuts under that is found, scaled back to
//          ||theta||_p = 1, and made the place of the next expansion, until the highest cut there falls no
//          more. The program with its one quadratic constraint and 0 <= theta <= 1 is solved through its dual
//          over the cuts (weights/models/mixture.h).
// Takes    the evaluation at the last theta, whose beta gives one more cut; writes the next theta.
// Holds    ||theta||_p = 1; the mixture of the betas by the multipliers of the last program bounds the
//          optimum from below.
// Costs    one row of M values and one beta per cut, at most 120 of them; per move some expansions of some
//          Newton steps each.
#ifndef KWEAVE_WEIGHTS_BASELINES_CUTTING_PLANE_TAYLOR_H_
#define KWEAVE_WEIGHTS_BASELINES_CUTTING_PLANE_TAYLOR_H_

#include <vector>

#include "regularizer/lp_norm.h"
#include "weights/baselines/cuts.h"
#include "weights/run/weight_method.h"

namespace kweave {

class CuttingPlaneTaylor : public WeightMethod {
 public:
  /// Where the sequence of expansions is stable.
  static constexpr double kLeastNorm = 1.1, kMostNorm = 4;

  /// The regulariser, which must outlive this, is a norm of theta in that range.
  explicit CuttingPlaneTaylor(const Regularizer& regularizer) : norm_(*regularizer.lp_norm()) {}

  void Begin(std::span<double> theta) override { norm_.Uniform(theta); }
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  const DualPoint* dual_point() override { return dual_point_.beta.empty() ? nullptr : &dual_point_; }
  int patience() const override { return kBaselinePatience; }

 private:
  const LpNorm& norm_;
  Cuts cuts_;
  std::vector<double> mixture_;  // w of the last move
  DualPoint dual_point_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_BASELINES_CUTTING_PLANE_TAYLOR_H_
