// What beta does when the outputs of a machine move.
#ifndef KWEAVE_QP_RESPONSE_H_
#define KWEAVE_QP_RESPONSE_H_

#include <span>
#include <vector>

#include "loss/risk.h"
#include "qp/dual_problem.h"

namespace kweave {

/// beta_i falls with output u_i: it is minus the derivative of a convex, differentiable function of it.
class Response {
 public:
  virtual ~Response() = default;
  /// beta of the outputs u, and minus its derivative, `stiffness`, one of the two where that jumps.
  virtual void At(std::span<const double> u, std::span<double> beta, std::span<double> stiffness) const = 0;
};

/// beta = -C l'(u) of a smooth loss.
class SmoothResponse final : public Response {
 public:
  explicit SmoothResponse(const Risk& risk) : risk_(risk) {}
  void At(std::span<const double> u, std::span<double> beta, std::span<double> stiffness) const override;

 private:
  const Risk& risk_;
};

/// The beta_i that minimises beta_i u_i + linear_i beta_i + kink_i |beta_i| + 1/2 curvature_i beta_i^2 +
/// (beta_i - center_i)^2 / (2 sigma) between its bounds.
class ProximalResponse final : public Response {
 public:
  explicit ProximalResponse(const DualProblem& terms) : terms_(terms) {}
  void Set(std::span<const double> center, double sigma);
  void At(std::span<const double> u, std::span<double> beta, std::span<double> stiffness) const override;

 private:
  const DualProblem terms_;
  double sigma_ = 1;
  std::vector<double> at_zero_;  // center - sigma linear: beta for u = 0, but for the other terms
};

/// Writes the outputs `u` = `f` + b, for the b at which beta sums to `sum`, and beta and its stiffness there.
/// Starts from b, and returns the one found; `reach` is how far it looks first where beta does not move.
double BalanceBias(const Response& response, std::span<const double> f, double sum, double b, double reach,
                   std::span<double> u, std::span<double> beta, std::span<double> stiffness);

}  // namespace kweave

#endif  // KWEAVE_QP_RESPONSE_H_
