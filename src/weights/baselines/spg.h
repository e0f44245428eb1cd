// Spectral projected gradients, and plain ones.
//
// Solves     minimise W(theta) over a convex set, W differentiable, its values and gradients possibly a
//            little wrong.
// Method     Jain, Vishwanathan and Varma (KDD 2012), algorithm 1; theta is their d, lambda their spectral
//            step length. The direction is P(theta - lambda grad W) - theta (eq. 8) with lambda = s's / s'y
//            of the last step (eq. 6), the step along it by one of the line searches of
//            weights/models/gradient_steps.h. Without the spectral length lambda keeps its first value: plain
//            projected gradients. Bounds on lambda are relative to its first value, so that units do not
//            matter. For the steps of eq. (13) stands what the run makes of the gap; plain methods solve as
//            precisely as the paper found that they must.
// Takes and  value and gradient at the theta asked for; returns the next theta to evaluate.
// returns
// Holds      every theta asked for is feasible.
// Costs      one projection per step and O(M) per evaluation; no memory beyond a few vectors.
#ifndef KWEAVE_WEIGHTS_BASELINES_SPG_H_
#define KWEAVE_WEIGHTS_BASELINES_SPG_H_

#include <span>
#include <vector>

#include "weights/models/gradient_steps.h"

namespace kweave {

struct SpgParts {
  bool is_spectral = true;
  LineSearch search = LineSearch::kAverage;
};

class SpectralGradient : public GradientSteps {
 public:
  SpectralGradient(const SpgParts& parts, Projection project);

  void Next(double value, std::span<const double> gradient, std::span<double> theta) override;
  double step() const override { return step_; }
  void Restart() override { asked_.clear(); }

 private:
  void Start(double value, std::span<const double> gradient, std::span<const double> theta);
  void Accept(double value, std::span<const double> gradient);
  void ChooseLength(std::span<const double> gradient);
  void ChooseDirection();

  const bool is_spectral_;
  const Projection project_;
  LineSearchRule rule_;
  std::vector<double> asked_;               // the point given out last
  std::vector<double> theta_, gradient_;    // the last accepted point
  std::vector<double> target_, direction_;  // where its projected gradient leads, and the way there
  double slope_ = 0;                        // of W along the direction
  double step_ = 1;                         // s
  double first_length_ = 0;                 // lambda of the first step
  double length_ = 0;                       // lambda
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_BASELINES_SPG_H_
