#include "weights/models/backtracking.h"

#include <algorithm>
#include <cstddef>

#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

constexpr int kMaxCuts =
    6;  // each is to a tenth to seven tenths of the step: then the step itself was not what raised J
// Where the slopes do not say where to: below the middle, since the end is known to be bad. And the shares
// that are left of a step.
constexpr double kBlindShare = 0.3, kLeastShare = 0.1, kMostShare = 0.7;

}  // namespace

void FillFeasible(const Regularizer& regularizer, std::span<double> theta) {
  const LpNorm* norm = regularizer.lp_norm();
  norm != nullptr ? norm->Normalize(theta) : regularizer.MakeFeasible(theta);
}

bool Backtracking::Cuts(const Evaluation& last, std::span<double> theta) {
  if (!IsWorse(last) || cuts_ == kMaxCuts) {
    accepted_ = last;
    ++moves_;
    cuts_ = 0;
    return false;
  }
  ++cuts_;
  double slope_before = 0;
  double slope_after = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    const double d = last.theta[m] - accepted_.theta[m];
    slope_before -= 0.5 * accepted_.quadratics[m] * d;
    slope_after -= 0.5 * last.quadratics[m] * d;
  }
  const double zero =
      slope_before < 0 && slope_after > 0 ? slope_before / (slope_before - slope_after) : kBlindShare;
  const double step = std::clamp(zero, kLeastShare, kMostShare);
  for (std::size_t m = 0; m < theta.size(); ++m) {
    theta[m] = accepted_.theta[m] + step * (last.theta[m] - accepted_.theta[m]);
  }
  FillFeasible(regularizer_, theta);
  return true;
}

}  // namespace kweave
