// Spectral projected gradients: where to evaluate a function next, given what its last evaluation found.
//
// Solves     minimise W(theta) over a convex set, W differentiable, its values and gradients possibly a little wrong.
// Method     Jain, Vishwanathan and Varma (KDD 2012), algorithm 1; theta is their d, lambda their spectral step length. The
//            direction is P(theta - lambda grad W) - theta (eq. 8) with lambda = s's / s'y of the last step (eq. 6), the step
//            along it 1, 1/2, 1/4, ... until W falls enough below a reference (eq. 9 to 12): the mean of values so far, which
//            forgets the faster the worse the quadratic model predicts W, or the largest of the last few, or the last
//            one alone (Armijo). Without the spectral length lambda keeps its first value: plain projected gradients.
//            Bounds on lambda are relative to its first value, so that units do not matter. Two things are not in the
//            paper: with `is_scaled` all of it happens in the metric of scaled gradient projections (Bonettini, Zanella and
//            Zanni 2009); with secants the quadratic model that a direction minimises over the set, lambda its
//            curvature, also knows the curvatures that the last steps met (weights/secant_model.h). Both may begin after
//            some steps of the paper.
// Takes and  value and gradient at the theta asked for; returns the next theta to evaluate.
// returns
// Holds      every theta asked for is feasible: a point between two feasible ones.
// Costs      one projection per step and O(M) per evaluation; no memory beyond a few vectors. With secants what these cost.
#ifndef KWEAVE_WEIGHTS_SPECTRAL_GRADIENT_H_
#define KWEAVE_WEIGHTS_SPECTRAL_GRADIENT_H_

#include <deque>
#include <span>
#include <vector>

#include "weights/secant_model.h"

namespace kweave {

/// What a value is compared with before its step is taken.
enum class LineSearch {
  kLast,     ///< the last accepted value: Armijo's rule
  kAverage,  ///< the mean of the accepted values, with fading weights
  kMaximum,  ///< the largest of the last ten accepted values
};

struct SpectralOptions {
  bool is_spectral = true;
  /// Every parameter has a step length of its own, in proportion to its size (but not much below that of the largest). Where
  /// few parameters stay above 0 it takes a fraction of the steps.
  bool is_scaled = false;
  LineSearch search = LineSearch::kAverage;
  double least_scale = 0.02;         ///< with `is_scaled`: of the largest scale
  int plain_steps = 0;               ///< accepted steps before scales come in
  bool scales_secants_only = false;  ///< they come in with secants, or not at all
};

class SpectralGradient {
 public:
  using Projection = SecantModel::Projection;

  SpectralGradient(const SpectralOptions& options, Projection project);

  /// Takes the value and gradient at `theta` and overwrites it by the next point to evaluate. A theta that is not the
  /// one asked for starts anew from there.
  void Next(double value, std::span<const double> gradient, std::span<double> theta);

  /// Of the point asked for now: the share of the direction from the last accepted point.
  double step() const { return step_; }
  /// The last point was refused.
  bool is_searching() const { return step_ < 1; }
  /// From the tenth accepted step on: where plain steps crawl, as many kernels that are all but alike make them, it takes a
  /// fraction of the evaluations.
  void UseSecants() { uses_secants_ = true; }
  /// Takes whatever comes next as the place to start from.
  void Restart() { asked_.clear(); }

 private:
  void Start(double value, std::span<const double> gradient, std::span<const double> theta);
  bool IsLowEnough(double value) const;
  void Accept(double value, std::span<const double> gradient);
  void TuneForgetting(double value);
  void ChooseLength(std::span<const double> gradient);
  void ChooseScales();
  bool IsScaledNow() const {
    return options_.is_scaled && accepted_ >= options_.plain_steps &&
           (uses_secants_ || !options_.scales_secants_only);
  }
  void NoteSecant(std::span<const double> gradient);
  void ChooseDirection();
  void Ask(std::span<double> theta);

  const SpectralOptions options_;
  const Projection project_;
  std::vector<double> asked_;               // the point given out last
  std::vector<double> theta_, gradient_;    // the last accepted point
  std::vector<double> scales_;              // of the metric; empty: Euclid's
  std::vector<double> target_, direction_;  // where its projected gradient leads, and the way there
  double value_ = 0;
  double slope_ = 0;                   // of W along the direction
  double step_ = 1;                    // s
  double first_length_ = 0;            // lambda of the first step
  double length_ = 0;                  // lambda
  double reference_ = 0, weight_ = 1;  // C and Q of eq. (10) to (12)
  double memory_ = 0;                  // eta
  std::deque<double> recent_;          // accepted values, for the maximum rule
  int accepted_ = 0;                   // steps
  bool uses_secants_ = false;
  bool is_secant_ = false;  // the direction is
  SecantModel secants_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_SPECTRAL_GRADIENT_H_
