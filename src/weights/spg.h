// Solves   minimise W(theta) = J(theta) + r(theta) over Theta, r and Theta of any regulariser with a projection.
// Method   spectral projected gradients (weights/spectral_gradient.h), grad J = -q / 2 by Danskin's theorem; or, with parts of
//          them switched off, projected gradients down to plain ones with Armijo's rule. The driver makes solves as
//          precise as the gap asks for, which stands in for the steps of Jain et al. (2012), eq. (13); without the tuning
//          every solve is as precise as plain projected gradients need it.
// Takes    the evaluation at the last theta; writes the next theta.
// Holds    theta is feasible. Where the dual has kinks (norm 1) and the betas of single solves would close the gap slowly, the
//          lower bound is that of the best mixture of the betas (weights/beta_mixture.h).
// Costs    those of its steps, and of the mixture where there is one.
#ifndef KWEAVE_WEIGHTS_SPG_H_
#define KWEAVE_WEIGHTS_SPG_H_

#include <optional>
#include <string_view>

#include "regularizer/regularizer.h"
#include "weights/beta_mixture.h"
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

/// With steps in proportion to the weights where the regulariser asks for them; the plain ones take them with secants only.
SpgOptions ScaledFor(const Regularizer& regularizer, SpgOptions options);

class Spg : public WeightMethod {
 public:
  /// The regulariser, which must outlive this, has a projection.
  Spg(const Regularizer& regularizer, const SpgOptions& options);

  void Begin(std::span<double> theta) override;
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  bool needs_precision() const override { return true; }
  double inner_gap() const override { return options_.inner_gap(); }
  const DualPoint* dual_point() override { return mixture_.best(); }

 private:
  const Regularizer& regularizer_;
  const SpgOptions options_;
  const bool mixes_;
  SpectralGradient steps_;
  BetaMixture mixture_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_SPG_H_
