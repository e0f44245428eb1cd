// The step that all solvers are made of: one variable grows, another falls by as much.
#ifndef KWEAVE_QP_PAIR_STEP_H_
#define KWEAVE_QP_PAIR_STEP_H_

#include <algorithm>

#include "compute/cpu/smo_loops.h"
#include "qp/active_set.h"

namespace kweave {

/// The best partner of i, which may grow, among the variables that `sides` does not fix; -1 if there is none.
template <class T>
Index FindPartner(const ActiveSet& active, const float* sides, Index i, const T* row_i) {
  return FindPartner<T>({active.up_gradient(i), active.diagonal()[i], active.least_curvature()}, row_i,
                        active.gradient(), active.kinks(), sides, active.diagonal(), active.size());
}

/// Variable i grows and j falls as far as it pays and the bounds allow. Leaves the ends of the variables
/// whose rows are at hand and adds to `decrease` by how much the objective fell. False, with nothing changed,
/// when the numbers are too coarse for a step.
template <class T>
bool StepOnPair(ActiveSet& active, Index i, Index j, const T* row_i, const T* row_j, GradientEnds& ends,
                double& decrease) {
  const double* diagonal = active.diagonal();
  const double slope = active.low_gradient(j) - active.up_gradient(i);
  const double curvature =
      std::max(diagonal[i] + diagonal[j] - 2 * static_cast<double>(row_i[j]), active.least_curvature());
  const double ceiling = active.ceiling(i), floor = active.floor(j);
  const double room_i = ceiling - active.beta(i), room_j = active.beta(j) - floor;
  const double step = std::min({slope / curvature, room_i, room_j});
  const double beta_i = step == room_i ? ceiling : std::min(active.beta(i) + step, ceiling);
  const double beta_j = step == room_j ? floor : std::max(active.beta(j) - step, floor);
  if (beta_i == active.beta(i) && beta_j == active.beta(j)) return false;
  active.SetBeta(i, beta_i);
  active.SetBeta(j, beta_j);
  active.gradient()[i] += step * active.curvature(i);
  active.gradient()[j] -= step * active.curvature(j);
  decrease += step * (slope - 0.5 * step * curvature);
  ends = UpdateGradient(step, row_i, row_j, active.kinks(), active.cached_sides(), active.gradient(),
                        active.size());
  return true;
}

}  // namespace kweave

#endif  // KWEAVE_QP_PAIR_STEP_H_
