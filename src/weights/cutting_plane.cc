#include "weights/cutting_plane.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kweave {

namespace {

constexpr std::size_t kMostCuts = 120;
constexpr double kShareOfNew = 0.1;     // of the newest cut in the first mixture
constexpr double kCutPrecision = 1e-2;  // of the gap
constexpr double kLeastPrecision = 1e-4;
constexpr double kMostPrecision = 1e-11;

}  // namespace

void CuttingPlane::Cuts::Add(const Evaluation& at) {
  if (linear_.empty()) {
    unit_ = std::max({std::abs(at.primal), std::abs(at.linear), std::numeric_limits<double>::min()});
  }
  linear_.push_back(at.linear / unit_);
  quadratics_.push_back(at.quadratics);
  for (double& value : quadratics_.back()) value = std::max(value, 0.0) / unit_;
  betas_.push_back(at.beta);
}

void CuttingPlane::Cuts::Drop(std::size_t t) {
  const auto offset = static_cast<std::ptrdiff_t>(t);
  linear_.erase(linear_.begin() + offset);
  quadratics_.erase(quadratics_.begin() + offset);
  betas_.erase(betas_.begin() + offset);
}

void CuttingPlane::Cuts::Quadratics(std::span<const double> w, std::span<double> q) const {
  std::fill(q.begin(), q.end(), 0.0);
  for (std::size_t t = 0; t < w.size(); ++t) {
    for (std::size_t m = 0; m < q.size(); ++m) q[m] += w[t] * quadratics_[t][m];
  }
}

std::vector<double> CuttingPlane::Cuts::Slopes(std::span<const double>) const {
  std::vector<double> slopes;
  for (const std::vector<double>& q : quadratics_) slopes.insert(slopes.end(), q.begin(), q.end());
  return slopes;
}

std::vector<double> CuttingPlane::Cuts::Mix(std::span<const double> w) const {
  std::vector<double> beta(betas_.front().size(), 0.0);
  for (std::size_t t = 0; t < w.size(); ++t) {
    for (std::size_t i = 0; i < beta.size(); ++i) beta[i] += w[t] * betas_[t][i];
  }
  return beta;
}

void CuttingPlane::Move(const Evaluation& last, const Machine&, const RunState& state,
                        std::span<double> theta) {
  if (mixture_.size() == kMostCuts) {
    const auto least = std::min_element(mixture_.begin(), mixture_.end());
    cuts_.Drop(static_cast<std::size_t>(least - mixture_.begin()));
    mixture_.erase(least);
  }
  cuts_.Add(last);
  double sum = 0;
  for (const double share : mixture_) sum += share;
  for (double& share : mixture_) share *= (1 - kShareOfNew) / sum;
  mixture_.push_back(sum > 0 ? kShareOfNew : 1);

  const double precision = std::clamp(kCutPrecision * state.relative_gap, kMostPrecision, kLeastPrecision);
  MixturePoint lowest = SolveMixture(regularizer_, cuts_, mixture_, precision);
  mixture_ = lowest.w;
  std::copy(lowest.theta.begin(), lowest.theta.end(), theta.begin());
  // The mixed beta has quadratics no larger than the mixed ones, and L no smaller.
  dual_point_ = {cuts_.Mix(lowest.w), cuts_.unit() * lowest.value};
}

}  // namespace kweave
