// Solves   minimise r(theta) + J(theta) for every regulariser with an analytic update, above all theta >= 0,
//          ||theta||_p <= 1, for every p from 1 to infinity.
// Method   the update theta_m ~ (theta_m^2 q_m)^(1/(p+1)) (Kloft et al. 2011, eq. (17); their alpha'K alpha
//          is our q), which never raises J but crawls for p close to 1. When it would need many more solves,
//          and the constraint is a norm, a Newton step takes its place: a local model of J (weights/local_model.h) minimised over the same
//          ball (weights/saddle_qp.h). A step that raised J is cut back along the line, where J is convex.
// Takes    the evaluation at the last theta; writes the next one, and after a Newton step the model's beta.
// Holds    theta is feasible, with ||theta||_p = 1; the point kept to cut back to has the smallest J of all accepted ones.
// Costs    O(M) per update; a Newton step what its two parts cost, with at most a few hundred directions, and
//          one expansion.
#ifndef KWEAVE_WEIGHTS_ANALYTIC_H_
#define KWEAVE_WEIGHTS_ANALYTIC_H_

#include <vector>

#include "regularizer/lp_norm.h"
#include "weights/local_model.h"
#include "weights/weight_method.h"

namespace kweave {

class Analytic : public WeightMethod {
 public:
  explicit Analytic(const Regularizer& regularizer)
      : regularizer_(regularizer), norm_(regularizer.lp_norm()) {}

  void Begin(std::span<double> theta) override;
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  const DualPoint* dual_point() override { return dual_point_.beta.empty() ? nullptr : &dual_point_; }

 private:
  enum class Step { kNone, kUpdate, kNewton, kCut };
  static constexpr std::size_t kFirstBoundedSamples = 48;

  bool IsWorseThanAccepted(const Evaluation& last) const;
  void CutBack(const Evaluation& last, std::span<double> theta);
  void Finish(std::span<double> theta) const;
  void Update(const Evaluation& last, double floor, std::span<double> theta) const;
  bool UpdateCrawls(const RunState& state) const;
  bool NewtonStep(const Evaluation& last, const Machine& machine, const RunState& state,
                  std::span<double> theta);
  void NoteDualPoint(std::vector<double> beta, const Machine& machine);

  const Regularizer& regularizer_;
  const LpNorm* norm_;                               // the same, where it is a norm of theta; else null
  Evaluation accepted_;                              // the point a failed step is cut back to
  double previous_gap_ = 1;                          // relative, when the last step was accepted
  DualPoint dual_point_;                             // of the last Newton step
  std::size_t most_bounded_ = kFirstBoundedSamples;  // of the next local model
  Step last_step_ = Step::kNone;
  double update_rate_ = 0.5;         // of the gap, by the last update; a typical one at first
  int moves_ = 0;                    // accepted ones
  int cuts_ = 0;                     // of the step being tried
  bool was_newton_partial_ = false;  // the last Newton step moved kernels in groups
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_ANALYTIC_H_
