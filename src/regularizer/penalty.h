// The penalty form of a norm that is otherwise a constraint.
//
// Solves     the small problems of r(theta) = mu/2 N(theta)^2, or mu N(theta), theta >= 0, for a norm N of
//            the weights.
// Method     along a ray theta = t d with N(d) = 1 all is a function of t; d is that of the constraint
//            N(theta) <= 1, whose dual term b(q) = N*(q) / 2 makes b^2 / (2 mu); for mu N(theta) it is zero
//            as long as b is not above mu, else infinite. The solutions are those of the constraint at
//            another C (Kloft et al. 2011, theorem 1).
// Takes and  as regularizer.h says.
// returns
// Holds      theta >= 0 is all that feasible means.
// Costs      what the constraint costs.
#ifndef KWEAVE_REGULARIZER_PENALTY_H_
#define KWEAVE_REGULARIZER_PENALTY_H_

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/constants.h"
#include "kweave/error.h"
#include "regularizer/norms.h"
#include "regularizer/regularizer.h"

namespace kweave {

/// Squares of norms bend without bound as a weight goes to 0; weights six orders of magnitude below the
/// largest change no gap that is asked for.
inline constexpr double kPenaltyStepShare = 1e-6;

/// mu, or Error(kUsage) unless it is finite and above 0.
inline double RequirePenalty(double mu) {
  if (mu > 0 && std::isfinite(mu)) return mu;
  throw Error(ErrorKind::kUsage, fmt::format("penalty is {}, but must be above 0", mu));
}

/// All of it but Evaluate; Norm is the regulariser that has N as its constraint.
template <class Norm>
class Penalty : public Regularizer {
 public:
  double DualTerm(std::span<const double> q) const override {
    const double dual = norm_.DualTerm(q);
    if (is_square_) return dual * dual / (2 * mu_);
    return dual <= mu_ ? 0 : kInfinity;
  }
  /// Outside the domain of the dual term of mu N(theta), where there is none, that of the constraint, scaled.
  void BestResponse(std::span<const double> q, std::span<double> theta) const override {
    norm_.BestResponse(q, theta);
    Scale(norm_.DualTerm(q) / mu_, theta);
  }
  void Start(std::span<double> theta) const override { norm_.Start(theta); }
  void MakeFeasible(std::span<double> theta) const override { DropNegative(theta); }
  /// On the ray theta = t d: 1/2 s / t + r(t d) with s = sum_m u_m^2 / d_m, u_m^2 = theta_m^2 q_m.
  void AnalyticUpdate(std::span<const double> theta, std::span<const double> q,
                      std::span<double> updated) const override {
    const std::vector<double> old(theta.begin(), theta.end());
    norm_.AnalyticUpdate(theta, q, updated);
    double sum = 0;
    for (std::size_t m = 0; m < old.size(); ++m) {
      if (updated[m] > 0) sum += old[m] * (old[m] / updated[m]) * q[m];
    }
    Scale(is_square_ ? std::cbrt(sum / (2 * mu_)) : std::sqrt(sum / (2 * mu_)), updated);
  }
  using Regularizer::Project;
  void Project(std::span<double> theta, std::span<const double>) const override { MakeFeasible(theta); }

 protected:
  /// Throws Error(kUsage) unless mu > 0. `is_square`: mu/2 N^2, else mu N.
  Penalty(RegularizerTraits traits, double mu, Norm norm, bool is_square)
      : Regularizer(std::move(traits)),
        mu_(RequirePenalty(mu)),
        norm_(std::move(norm)),
        is_square_(is_square) {
    if (!is_square || !norm_.dual_norm()) return;
    this->traits().dual_norm = norm_.dual_norm();
    this->traits().dual_norm->linear = 0;
    this->traits().dual_norm->square = 1 / (8 * mu);
  }

  double mu() const { return mu_; }
  const Norm& norm() const { return norm_; }

 private:
  static void Scale(double factor, std::span<double> theta) {
    for (double& value : theta) value *= factor;
  }

  double mu_;
  Norm norm_;
  bool is_square_;
};

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_PENALTY_H_
