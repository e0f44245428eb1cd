#ifndef KWEAVE_WEIGHTS_METHODS_UNIFORM_H_
#define KWEAVE_WEIGHTS_METHODS_UNIFORM_H_

#include "regularizer/lp_norm.h"
#include "weights/run/weight_method.h"

namespace kweave {

/// p = infinity: J decreases in every weight, so all are 1; except where q_m <= 0 (an indefinite kernel).
class Uniform : public WeightMethod {
 public:
  explicit Uniform(const Regularizer& regularizer) : norm_(*regularizer.lp_norm()) {}
  void Begin(std::span<double> theta) override { norm_.Uniform(theta); }
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override {
    norm_.AnalyticUpdate(last.theta, last.quadratics, theta);
  }

 private:
  const LpNorm& norm_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHODS_UNIFORM_H_
