// Solves   one Newton step of theta for J(theta) over theta >= 0, ||theta||_p <= 1, 1 <= p < infinity.
// Method   a local model of J (weights/models/local_model.h) minimised over the whole ball
//          (weights/models/saddle_qp.h): every kernel moves by itself or, where there are too many, the
//          heaviest half do and the others in groups. At the optimum q_m / theta_m^(p-1) is the same for all
//          kernels with weight, so kernels where it is alike want to move alike.
// Takes    the evaluation at the last theta and its machine, which has one output; writes the model's theta
//          and gives its beta.
// Holds    theta is feasible, with ||theta||_p = 1; the bound is that of a feasible beta.
// Costs    what its two parts cost, for the directions and bounded samples that the options allow, and one
//          expansion where beta is measured.
#ifndef KWEAVE_WEIGHTS_METHODS_NEWTON_STEP_H_
#define KWEAVE_WEIGHTS_METHODS_NEWTON_STEP_H_

#include <cstddef>
#include <optional>
#include <span>

#include "regularizer/lp_norm.h"
#include "weights/models/local_model.h"
#include "weights/run/weight_method.h"

namespace kweave {

struct NewtonStepOptions {
  std::size_t most_directions = 512;
  std::size_t most_bounded = kMostBoundedSamples;  ///< samples that keep their bounds in the model
  /// Of the model's minimum, as a share of the gap. With norms close to 1 a kernel that hardly changes the
  /// objective may change the bound by much.
  double precision = 1e-7;
  /// Measure the model's beta even if the model moves only some of the free samples; such a beta hardly ever
  /// gives a better bound than the next solve does, unless that has many solutions.
  bool measures_partial = true;
};

/// Nothing, and theta is left alone, where the numbers do not allow a step. Without a beta where it is not
/// measured.
std::optional<DualPoint> TakeNewtonStep(const LpNorm& norm, const Evaluation& last, const Machine& machine,
                                        const RunState& state, const NewtonStepOptions& options,
                                        std::span<double> theta);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHODS_NEWTON_STEP_H_
