#include "qp/conjugate_gradients.h"

#include <cmath>
#include <numeric>

#include "base/dot.h"

namespace kweave {

namespace {

constexpr double kLeastReduction = 1e-10;  // of the gap: more is beyond single precision

class PlaneSolver {
 public:
  PlaneSolver(KernelMatrix& kernel, std::span<const double> v, bool has_plane, Preconditioner& preconditioner,
              std::vector<double>& d)
      : kernel_(kernel),
        v_(v),
        has_plane_(has_plane),
        preconditioner_(preconditioner),
        d_(d),
        r_(v.size()),
        z_(v.size()),
        product_(v.size()) {}

  bool Run(std::span<const double> rho, const IsEnough& is_enough, const std::function<bool()>& proceed) {
    bool is_fresh = !preconditioner_.is_built();
    if (is_fresh && !preconditioner_.Build(kernel_, v_, proceed)) return false;
    FindNormal();
    Start(rho);
    const double least = kLeastReduction * Gap();
    Precondition();
    p_ = z_;
    for (int step = 0; step < kMostConjugateSteps; ++step) {
      const double gap = Gap();
      if (gap <= least || is_enough(gap, d_, r_)) break;
      if (!proceed()) return false;
      if (!is_fresh && step >= preconditioner_.products_per_build()) {
        if (!preconditioner_.Build(kernel_, v_, proceed)) return false;
        is_fresh = true;
        FindNormal();
        Precondition();
        p_ = z_;
      }
      if (!Step()) break;
    }
    return true;
  }

 private:
  // The duality gap that a quadratic loss would leave.
  double Gap() const {
    double sum = 0;
    for (std::size_t i = 0; i < r_.size(); ++i) sum += r_[i] * r_[i] / v_[i];
    return 0.5 * sum;
  }

  // Chooses the constant c that serves the gap best.
  void Centre() {
    if (!has_plane_) return;
    double sum = 0, weight = 0;
    for (std::size_t i = 0; i < r_.size(); ++i) {
      sum += r_[i] / v_[i];
      weight += 1 / v_[i];
    }
    for (double& value : r_) value -= sum / weight;
  }

  void FindNormal() {
    if (!has_plane_) return;
    normal_.resize(v_.size());
    preconditioner_.Apply(std::vector<double>(v_.size(), 1.0), normal_);
    normal_sum_ = Sum(normal_);
  }

  // Where V outweighs all of K, d is rho but for little; starting there keeps those samples out of the way of
  // the others. All other entries start at zero, or where the sum wants them.
  void Start(std::span<const double> rho) {
    kernel_.Diagonal(product_);
    const double largest = Sum(product_);
    double sum = 0;
    bool is_zero = true;
    d_.assign(v_.size(), 0.0);
    for (std::size_t i = 0; i < v_.size(); ++i) {
      r_[i] = v_[i] * rho[i];
      if (!(v_[i] > largest) || rho[i] == 0) continue;
      sum += d_[i] = rho[i];
      is_zero = false;
    }
    if (!is_zero) {
      if (has_plane_) {
        for (std::size_t i = 0; i < d_.size(); ++i) d_[i] -= sum / normal_sum_ * normal_[i];
      }
      kernel_.Multiply(d_, product_);
      for (std::size_t i = 0; i < d_.size(); ++i) r_[i] = v_[i] * (rho[i] - d_[i]) - product_[i];
    }
    Centre();
  }

  void Precondition() {
    preconditioner_.Apply(r_, z_);
    if (has_plane_) {
      const double share = Sum(z_) / normal_sum_;
      for (std::size_t i = 0; i < z_.size(); ++i) z_[i] -= share * normal_[i];
    }
    rz_ = Dot(r_, z_);
  }

  // False when rounding leaves nothing to gain.
  bool Step() {
    kernel_.Multiply(p_, product_);
    for (std::size_t i = 0; i < p_.size(); ++i) product_[i] += v_[i] * p_[i];
    const double curvature = Dot(p_, product_);
    if (!(curvature > 0 && rz_ > 0)) return false;
    const double length = rz_ / curvature;
    for (std::size_t i = 0; i < p_.size(); ++i) {
      d_[i] += length * p_[i];
      r_[i] -= length * product_[i];
    }
    Centre();
    const double before = rz_;
    Precondition();
    for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = z_[i] + rz_ / before * p_[i];
    return true;
  }

  KernelMatrix& kernel_;
  const std::span<const double> v_;
  const bool has_plane_;
  Preconditioner& preconditioner_;
  std::vector<double>& d_;
  std::vector<double> r_;  // residual
  std::vector<double> z_;  // preconditioned, on the plane
  std::vector<double> p_;  // direction
  std::vector<double> product_;
  std::vector<double> normal_;  // the preconditioner times 1
  double normal_sum_ = 0;
  double rz_ = 0;
};

}  // namespace

bool SolveOnPlane(KernelMatrix& kernel, std::span<const double> v, std::span<const double> rho,
                  bool has_plane, const IsEnough& is_enough, Preconditioner& preconditioner,
                  const std::function<bool()>& proceed, std::vector<double>& d) {
  return PlaneSolver(kernel, v, has_plane, preconditioner, d).Run(rho, is_enough, proceed);
}

}  // namespace kweave
