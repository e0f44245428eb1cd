// Solves   minimise r(theta) + J(theta) for every regulariser with an analytic update, above all theta >= 0,
//          ||theta||_p <= 1, for every p from 1 to infinity.
// Method   Kloft et al. (2011), algorithm 1 (2 where the run is interleaved): after a solve theta_m ~
//          (theta_m^2 q_m)^(1/(p+1)), eq. (17); their alpha'K alpha is our q.
// Takes    the evaluation at the last theta; writes the next one.
// Holds    theta is feasible, with ||theta||_p = 1; no update raises J.
// Costs    O(M) per update. For p close to 1 it needs many.
#ifndef KWEAVE_WEIGHTS_BASELINES_ANALYTIC_H_
#define KWEAVE_WEIGHTS_BASELINES_ANALYTIC_H_

#include "regularizer/regularizer.h"
#include "weights/run/weight_method.h"

namespace kweave {

class Analytic : public WeightMethod {
 public:
  explicit Analytic(const Regularizer& regularizer) : regularizer_(regularizer) {}

  void Begin(std::span<double> theta) override { regularizer_.Start(theta); }
  void Move(const Evaluation& last, const Machine&, const RunState&, std::span<double> theta) override {
    regularizer_.AnalyticUpdate(last.theta, last.quadratics, theta);
  }
  int patience() const override { return kBaselinePatience; }

 private:
  const Regularizer& regularizer_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_BASELINES_ANALYTIC_H_
