// Solves   where to go back to after a step that raised J(theta) + r(theta).
// Method   the objective is convex on the line between two thetas, and its slope is known at both ends: -q'd
//          / 2. The secant estimates where the slope is zero.
// Takes    what the solves at the last accepted theta and at the one tried found; writes a theta between
//          them.
// Holds    a step counts as worse only where that is certain: its lower bound lies above the upper bound
//          before.
// Costs    O(M).
#ifndef KWEAVE_WEIGHTS_MODELS_BACKTRACKING_H_
#define KWEAVE_WEIGHTS_MODELS_BACKTRACKING_H_

#include <span>

#include "regularizer/regularizer.h"
#include "weights/run/machine.h"

namespace kweave {

/// Nearest cheap feasible theta; norms of theta are filled to one.
void FillFeasible(const Regularizer& regularizer, std::span<double> theta);

class Backtracking {
 public:
  explicit Backtracking(const Regularizer& regularizer) : regularizer_(regularizer) {}

  /// Whether the objective at `last` is certainly above that at the accepted point. Where weights are not
  /// minimised over, it is to rise.
  bool IsWorse(const Evaluation& last) const {
    return moves_ > 0 && regularizer_.is_minimized() && last.inner_dual > accepted_.primal;
  }
  /// Whether the step to `last` raised the objective, is cut, and theta is where to try next. Else `last` is
  /// accepted, and theta is left alone.
  bool Cuts(const Evaluation& last, std::span<double> theta);

  /// Points accepted so far.
  int moves() const { return moves_; }

 private:
  const Regularizer& regularizer_;
  Evaluation accepted_;  // the point that a failed step is cut back to
  int moves_ = 0;
  int cuts_ = 0;  // of the step being tried
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_BACKTRACKING_H_
