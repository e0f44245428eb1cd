#include "weights/baselines/cutting_plane.h"

#include <algorithm>

namespace kweave {

void CuttingPlane::Move(const Evaluation& last, const Machine&, const RunState& state,
                        std::span<double> theta) {
  cuts_.Add(last, mixture_);
  const MixturePoint lowest =
      SolveMixture(regularizer_, cuts_, mixture_, Cuts::PrecisionFor(state.relative_gap));
  mixture_ = lowest.w;
  std::ranges::copy(lowest.theta, theta.begin());
  // The mixed beta has quadratics no larger than the mixed ones, and L no smaller.
  dual_point_ = {cuts_.Mix(lowest.w), cuts_.unit() * lowest.value};
}

}  // namespace kweave
