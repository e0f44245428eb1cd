#include "qp/response.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/constants.h"
#include "loss/smooth_loss.h"

namespace kweave {
void SmoothResponse::At(std::span<const double> u, std::span<double> beta,
                        std::span<double> stiffness) const {
  const SmoothLoss& loss = *risk_.loss->smooth();
  for (std::size_t i = 0; i < u.size(); ++i) {
    const LossDerivatives derivatives = loss.DerivativesAt(u[i], risk_.y[i]);
    beta[i] = -risk_.C[i] * derivatives.first;
    stiffness[i] = risk_.C[i] * derivatives.second;
  }
}

void ProximalResponse::Set(std::span<const double> center, double sigma) {
  sigma_ = sigma;
  at_zero_.assign(center.begin(), center.end());
  for (std::size_t i = 0; i < at_zero_.size(); ++i) at_zero_[i] -= sigma * terms_.linear[i];
}

void ProximalResponse::At(std::span<const double> u, std::span<double> beta,
                          std::span<double> stiffness) const {
  const bool has_kinks = !terms_.kink.empty(), has_curvature = !terms_.curvature.empty();
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double kink = has_kinks ? sigma_ * terms_.kink[i] : 0;
    const double divisor = has_curvature ? 1 + sigma_ * terms_.curvature[i] : 1;
    double free = at_zero_[i] - sigma_ * u[i];
    bool moves = true;
    if (has_kinks) {
      moves = std::abs(free) > kink;
      free -= std::clamp(free, -kink, kink);
    }
    if (has_curvature) free /= divisor;
    beta[i] = std::min(std::max(free, terms_.lower[i]), terms_.upper[i]);
    moves = moves && beta[i] > terms_.lower[i] && beta[i] < terms_.upper[i];
    stiffness[i] = moves ? sigma_ / divisor : 0;
  }
}

// Newton's method on the sum, which falls with b, within a bracket.
double BalanceBias(const Response& response, std::span<const double> f, double sum, double b, double reach,
                   std::span<double> u, std::span<double> beta, std::span<double> stiffness) {
  double below = -kInfinity, above = kInfinity;
  for (int trial = 0;; ++trial) {
    for (std::size_t i = 0; i < f.size(); ++i) u[i] = f[i] + b;
    response.At(u, beta, stiffness);
    double excess = -sum, size = std::abs(sum), slope = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
      excess += beta[i];
      size += std::abs(beta[i]);
      slope += stiffness[i];
    }
    if (std::abs(excess) <= kFewRoundings * size || trial == kMostRootSteps) return b;
    (excess > 0 ? below : above) = b;
    double next = b + excess / slope;
    if (!(next > below && next < above)) {
      const bool is_bracketed = std::isfinite(below) && std::isfinite(above);
      next = is_bracketed ? std::midpoint(below, above) : b + std::copysign(reach, excess);
      reach *= 2;
    }
    if (next == b || !std::isfinite(next)) return b;
    b = next;
  }
}

}  // namespace kweave
