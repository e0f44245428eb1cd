// Solves   minimise r(theta) + J(theta) for every regulariser with an analytic update, above all theta >= 0,
//          ||theta||_p <= 1, for every p from 1 to infinity.
// Method   the update theta_m ~ (theta_m^2 q_m)^(1/(p+1)) (Kloft et al. 2011, eq. (17); their alpha'K alpha
//          is our q), which never raises J but crawls for p close to 1. Where it does after ten updates, and the constraint is a
//          norm, its steps are extrapolated (weights/extrapolation.h) in log theta, where the update is straight. From an
//          extrapolated step that raised J it goes back to the update; where that happens twice on end, and elsewhere, the step is
//          cut back (weights/cut_back.h). For norms close to 1 the lower bound is that of the best mixture of the
//          betas (weights/beta_mixture.h).
// Takes    the evaluation at the last theta; writes the next one.
// Holds    theta is feasible, with ||theta||_p = 1; the point kept to cut back to has the smallest J of all accepted ones.
// Costs    O(M) per update.
#ifndef KWEAVE_WEIGHTS_ANALYTIC_H_
#define KWEAVE_WEIGHTS_ANALYTIC_H_

#include "regularizer/lp_norm.h"
#include "weights/beta_mixture.h"
#include "weights/cut_back.h"
#include "weights/extrapolation.h"
#include "weights/weight_method.h"

namespace kweave {

/// The update. It multiplies, so a weight near zero could not come back in reasonable time: `floor` times the best response is
/// the least that a weight becomes.
void AnalyticStep(const Regularizer& regularizer, const Evaluation& last, double floor,
                  std::span<double> theta);

class Analytic : public WeightMethod {
 public:
  explicit Analytic(const Regularizer& regularizer)
      : regularizer_(regularizer),
        norm_(regularizer.lp_norm()),
        mixes_(BetaMixture::Helps(regularizer)),
        cut_back_(regularizer),
        mixture_(regularizer) {}

  void Begin(std::span<double> theta) override { regularizer_.Start(theta); }
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  /// Extrapolation makes the errors of steps larger.
  bool needs_precision() const override { return mixes_ && extrapolates_; }
  const DualPoint* dual_point() override { return mixture_.best(); }
  int patience() const override;

 private:
  bool Crawls(const RunState& state) const;
  void Extrapolate(const Evaluation& last, std::span<double> theta);
  void GoBackToUpdate(const Evaluation& last, std::span<double> theta);

  const Regularizer& regularizer_;
  const LpNorm* norm_;  // the same, where it is a norm of theta; else null
  const bool mixes_;
  CutBack cut_back_;
  Extrapolation extrapolation_;
  BetaMixture mixture_;
  double previous_gap_ = 1;  // relative, when the last step was accepted
  bool extrapolates_ = false;
  bool has_gone_back_ = false;  // from the last step that was extrapolated
  std::vector<double> update_;  // what theta would be without extrapolation; empty: what it is
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_ANALYTIC_H_
