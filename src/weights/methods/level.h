// Solves   minimise r(theta) + J(theta) over the simplex (p = 1), within bounds on single weights or with a
//          cost for weight, or for any regulariser with a dual term that is smooth, that of a maximum, or can
//          be smoothed: norms above 1, penalties, block norms of every order, mixed, matrix and elastic
//          norms.
// Method   level bundle (Lemarechal, Nemirovskii, Nesterov: New variants of bundle methods, 1995), with a
//          model that is curved (weights/models/bundle.h). Its minimum bounds J from below. The next solve is
//          made where the model falls to a level between that bound and the smallest objective so far, as
//          near as possible to the theta that gave the latter. The level is the model's minimum as long as
//          the gap falls fast, and is raised when it does not.
//          Off the simplex the model is maximised over the mixtures of the betas, theta is the best response
//          to their quadratics, and a level is met on the straight way there, where the model is convex.
//          Where weights are not minimised over, every beta still raises the dual: it is the best one at the
//          response to the mixture, so D rises on the way to it.
// Takes    the evaluation at the last theta, exact or not; writes the next theta.
// Holds    theta is feasible; the mixture of the betas at the model's minimum bounds the optimum.
// Costs    what the bundle costs: some minima of its model per move, no kernel value beyond the solve's.
#ifndef KWEAVE_WEIGHTS_METHODS_LEVEL_H_
#define KWEAVE_WEIGHTS_METHODS_LEVEL_H_

#include <limits>
#include <optional>
#include <vector>

#include "regularizer/lp_norm.h"
#include "weights/models/bundle.h"
#include "weights/run/weight_method.h"

namespace kweave {

class Level : public WeightMethod {
 public:
  explicit Level(const Regularizer& regularizer);

  void Begin(std::span<double> theta) override;
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  bool needs_precision() const override { return true; }
  const DualPoint* dual_point() override { return dual_point_.beta.empty() ? nullptr : &dual_point_; }

 private:
  void NoteKernels(const Machine& machine);
  void NoteSolve(const Evaluation& last);
  void ChooseLevel(double gap);
  BundlePoint Lowest(double precision);
  BundlePoint ToLevel(BundlePoint lowest, double precision);

  void MoveOnSimplex(const RunState& state, std::span<double> theta);
  void MoveByMixture(const RunState& state, std::span<double> theta);
  double NoteBound(const BundlePoint& lowest);

  const Regularizer& regularizer_;
  const std::optional<LinearWeights> linear_;  // the simplex, bounds in it, or what weight costs
  Bundle bundle_;
  const Gram* gram_ = nullptr;      // the kernels that the bundle's numbers come from
  std::vector<double> best_theta_;  // with the smallest primal, best_
  std::vector<double> metric_;      // of the distance to it
  double best_ = std::numeric_limits<double>::infinity();
  double gap_ = std::numeric_limits<double>::infinity();  // after the last move, in units of the bundle
  double share_ = 0;        // of the gap, that the level lies above the lower bound
  double rho_ = 0.1;        // the pull that led to the last level
  bool may_scale_ = false;  // beta = 0 is feasible
  DualPoint dual_point_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHODS_LEVEL_H_
