// Projected quasi-Newton steps: what `auto` takes where there is a projection and nothing better, and for
// parameters of products.
//
// Solves     minimise W(theta) over a convex set, W differentiable, its values and gradients possibly a
//            little wrong.
// Method     spectral projected gradients (baselines/spg.h) at first; from the tenth accepted step on the
//            quadratic model that a direction minimises over the set also knows the curvatures that the last
//            steps met (weights/models/secant_model.h). Where kernels are all but alike and plain steps
//            crawl, that takes a fraction of the evaluations. All of it happens, where asked for, in the
//            metric of scaled gradient projections (Bonettini, Zanella and Zanni 2009): every parameter has a
//            step length of its own, in proportion to its size, which pays where few parameters stay above 0.
// Takes and  value and gradient at the theta asked for; returns the next theta to evaluate.
// returns
// Holds      every theta asked for is feasible.
// Costs      one projection per spectral step and O(M) per evaluation; the secants what their model costs.
#ifndef KWEAVE_WEIGHTS_METHODS_PROJECTED_QUASI_NEWTON_H_
#define KWEAVE_WEIGHTS_METHODS_PROJECTED_QUASI_NEWTON_H_

#include <span>
#include <vector>

#include "weights/models/gradient_steps.h"
#include "weights/models/secant_model.h"

namespace kweave {

/// Whether parameters have step lengths of their own.
struct StepScales {
  double least = 0;     ///< scale, as a share of the largest; 0: all alike
  int plain_steps = 0;  ///< accepted steps before scales come in
};

class ProjectedQuasiNewton : public GradientSteps {
 public:
  ProjectedQuasiNewton(const StepScales& scaling, Projection project);
  /// Onto the regulariser's set, scaled as it asks for.
  explicit ProjectedQuasiNewton(const Regularizer& regularizer);

  void Next(double value, std::span<const double> gradient, std::span<double> theta) override;
  double step() const override { return step_; }
  void Restart() override { asked_.clear(); }

 private:
  void Start(double value, std::span<const double> gradient, std::span<const double> theta);
  void Accept(double value, std::span<const double> gradient);
  double PredictedChange() const;
  void ChooseLength(std::span<const double> gradient);
  void ChooseScales();
  void AddSecant(std::span<const double> gradient);
  void ChooseDirection();

  const StepScales scaling_;
  const Projection project_;
  LineSearchRule rule_;
  SecantModel secants_;
  std::vector<double> asked_;               // the point given out last
  std::vector<double> theta_, gradient_;    // the last accepted point
  std::vector<double> scales_;              // of the metric; empty: Euclid's
  std::vector<double> target_, direction_;  // where the model is lowest, and the way there
  double slope_ = 0;                        // of W along the direction
  double step_ = 1;
  double first_length_ = 0;  // of a spectral step
  double length_ = 0;
  int accepted_ = 0;        // steps
  bool is_secant_ = false;  // the direction is
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHODS_PROJECTED_QUASI_NEWTON_H_
