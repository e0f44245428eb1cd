#include "weights/baselines/cutting_plane_taylor.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "base/constants.h"
#include "base/dot.h"

namespace kweave {

namespace {

// The sequence ends where the highest cut falls no more; this ends one that circles by less than rounding.
constexpr int kMostExpansions = 30;

// 0 <= theta <= 1 and the second-order expansion of ||theta||_p^p <= 1 around a point of norm one: sum_m a_m
// theta_m^2 - b_m theta_m <= c (algorithm D.1, line 16).
class TaylorBall : public Regularizer {
 public:
  TaylorBall(double p, std::span<const double> around)
      : Regularizer({.name = "expansion of a norm"}), bound_(0.5 * p * (3 - p)) {
    // Powers of zero would leave a weight without a price (p > 2), or with an infinite one.
    const double floor = (p > 2 ? 1e-3 : 1e-8) * *std::max_element(around.begin(), around.end());
    for (const double value : around) {
      const double center = std::max(value, floor);
      square_.push_back(0.5 * p * (p - 1) * std::pow(center, p - 2));
      linear_.push_back(p * (p - 2) * std::pow(center, p - 1));
    }
  }

  double DualTerm(std::span<const double> q) const override {
    std::vector<double> theta(q.size());
    BestResponse(q, theta);
    return 0.5 * Dot(q, theta);
  }

  // theta_m = (s q_m / 2 + b_m) / (2 a_m) inside its bounds, with the s > 0 that meets the constraint: the
  // side of the constraint rises with s, and is quadratic in it while the same weights are inside their
  // bounds.
  void BestResponse(std::span<const double> q, std::span<double> theta) const override {
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
    double s = 1;
    for (int k = 0; k < kMostRootSteps; ++k) {
      const auto [side, by_square, rest, is_full] = SideAt(s, q, theta);
      if (is_full && side <= bound_) return;
      (side <= bound_ ? low : high) = s;
      double next = by_square > 0 && bound_ > rest ? std::sqrt((bound_ - rest) / by_square) : 2 * s;
      if (!(next > low && next < high)) next = std::isinf(high) ? 10 * s : 0.5 * (low + high);
      if (std::abs(next - s) <= 1e-14 * s) return;
      s = next;
    }
  }

  void Start(std::span<double> theta) const override { std::fill(theta.begin(), theta.end(), 0.0); }
  void MakeFeasible(std::span<double>) const override {}

 private:
  struct Side {
    double value;            // of the constraint at theta(s)
    double by_square, rest;  // the same as by_square s^2 + rest
    bool is_full;            // no weight can grow
  };
  Side SideAt(double s, std::span<const double> q, std::span<double> theta) const {
    Side side{0, 0, 0, true};
    for (std::size_t m = 0; m < q.size(); ++m) {
      const double a = square_[m], b = linear_[m];
      const double positive = std::max(q[m], 0.0);
      const double wanted = (0.5 * s * positive + b) / (2 * a);
      theta[m] = std::clamp(wanted, 0.0, 1.0);
      const double value = theta[m] * (a * theta[m] - b);
      side.value += value;
      side.is_full = side.is_full && (positive == 0 || theta[m] == 1);
      if (theta[m] == wanted) {
        side.by_square += positive * positive / (16 * a);
        side.rest -= b * b / (4 * a);
      } else {
        side.rest += value;
      }
    }
    return side;
  }

  const double bound_;  // c
  std::vector<double> square_, linear_;
};

}  // namespace

void CuttingPlaneTaylor::Move(const Evaluation& last, const Machine&, const RunState& state,
                              std::span<double> theta) {
  cuts_.Add(last, mixture_);
  const double precision = Cuts::PrecisionFor(state.relative_gap);
  std::ranges::copy(last.theta, theta.begin());
  norm_.Normalize(theta);
  double highest = cuts_.Highest(theta);
  for (int k = 0; k < kMostExpansions; ++k) {
    MixturePoint lowest = SolveMixture(TaylorBall(norm_.p(), theta), cuts_, mixture_, precision);
    mixture_ = std::move(lowest.w);
    norm_.Normalize(lowest.theta);
    const double before = std::exchange(highest, cuts_.Highest(lowest.theta));
    std::ranges::copy(lowest.theta, theta.begin());
    if (std::abs(before - highest) <= precision) break;
  }
  std::vector<double> quadratics(theta.size());
  cuts_.Quadratics(mixture_, quadratics);
  const double value = Dot(cuts_.linear(), mixture_) - norm_.DualTerm(quadratics);
  dual_point_ = {cuts_.Mix(mixture_), cuts_.unit() * value};
}

}  // namespace kweave
