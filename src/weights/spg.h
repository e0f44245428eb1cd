// Solves   minimise W(theta) = J(theta) + r(theta) over Theta, r and Theta of any regulariser with a projection.
// Method   spectral projected gradients (weights/spectral_gradient.h), grad J = -q / 2 by Danskin's theorem; or, with parts of
//          them switched off, projected gradients down to plain ones with Armijo's rule. The driver makes solves as
//          precise as the gap asks for, which stands in for the steps of Jain et al. (2012), eq. (13); without the tuning
//          every solve is as precise as plain projected gradients need it.
// Takes    the evaluation at the last theta; writes the next theta.
// Holds    theta is feasible. Where the dual has kinks (norm 1) and the betas of single solves would close the gap slowly, the
//          lower bound is that of a mixture of the betas, which each solve moves towards its own beta as far as that raises
//          D, exactly, since q is quadratic on the way.
// Costs    one projection and one product with an expansion per step; a handful of vectors of M values.
#ifndef KWEAVE_WEIGHTS_SPG_H_
#define KWEAVE_WEIGHTS_SPG_H_

#include <optional>
#include <string_view>
#include <vector>

#include "regularizer/regularizer.h"
#include "weights/spectral_gradient.h"
#include "weights/weight_method.h"

namespace kweave {

struct SpgOptions {
  SpectralOptions steps;
  bool tunes_precision = true;

  /// Of every solve, relative; 0: as coarse as progress allows.
  double inner_gap() const { return tunes_precision ? 0 : 1e-6; }
};

/// What a method of this name switches on: spg, spg-max, pgd, pgd+n, pgd+s, pgd+n+s, "auto" being spg; or nothing for others.
std::optional<SpgOptions> FindSpgOptions(std::string_view method);

/// With steps in proportion to the weights where the regulariser asks for them and the method is not one of the plain ones.
SpgOptions ScaledFor(const Regularizer& regularizer, SpgOptions options);

class Spg : public WeightMethod {
 public:
  /// The regulariser, which must outlive this, has a projection.
  Spg(const Regularizer& regularizer, const SpgOptions& options);

  void Begin(std::span<double> theta) override;
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  double inner_gap() const override { return options_.inner_gap(); }
  const DualPoint* dual_point() override { return dual_point_.beta.empty() ? nullptr : &dual_point_; }

 private:
  void MixDual(const Evaluation& last, const Machine& machine);
  double DualBetween(const Evaluation& last, std::span<const double> products, double t);

  const Regularizer& regularizer_;
  const SpgOptions options_;
  SpectralGradient steps_;
  const Gram* gram_ = nullptr;  // what the bound below was found with
  DualPoint dual_point_;
  std::vector<double> mixed_quadratics_;  // of its beta
  double mixed_linear_ = 0;               // its L, or a little less
  bool may_scale_ = true;                 // beta = 0 is feasible
  std::vector<double> between_;           // quadratics between two betas
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_SPG_H_
