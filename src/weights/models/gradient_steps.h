// What methods that step along projected gradients share: the interface of their steps, the line search that
// accepts them, and the method that feeds them with solves.
//
// Solves     minimise W(theta) = J(theta) + r(theta) over Theta, r and Theta of any regulariser with a
//            projection; grad J = -q / 2 by Danskin's theorem.
// Method     a direction from the last accepted point, and along it steps of 1, 1/2, 1/4, ... until W falls
//            enough below a reference (Jain, Vishwanathan and Varma, KDD 2012, eq. (5), (9) to (12)): the
//            last value (Armijo), the largest of the last few (Grippo et al. 1986), or the mean of values so
//            far, which forgets the faster the worse a quadratic model predicts W. Directions:
//            baselines/spg.h, methods/projected_quasi_newton.h.
// Takes and  value and gradient at the theta asked for; returns the next theta to evaluate.
// returns
// Holds      every theta asked for is feasible: a point between two feasible ones.
// Costs      O(M) per evaluation, beside what directions cost.
#ifndef KWEAVE_WEIGHTS_MODELS_GRADIENT_STEPS_H_
#define KWEAVE_WEIGHTS_MODELS_GRADIENT_STEPS_H_

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "regularizer/regularizer.h"
#include "weights/run/weight_method.h"

namespace kweave {

class GradientSteps {
 public:
  virtual ~GradientSteps() = default;
  /// Takes the value and gradient at `theta` and overwrites it by the next point to evaluate. A theta that is
  /// not the one asked for starts anew from there.
  virtual void Next(double value, std::span<const double> gradient, std::span<double> theta) = 0;
  /// Of the point asked for now: the share of the direction from the last accepted point.
  virtual double step() const = 0;
  /// Takes whatever comes next as the place to start from.
  virtual void Restart() = 0;
};

/// Overwrites a point v by the feasible x with the smallest sum_m (x_m - v_m)^2 / scale_m; no scales: all 1.
using Projection = std::function<void(std::span<double> point, std::span<const double> scales)>;
/// The regulariser must outlive it.
Projection ProjectionOf(const Regularizer& regularizer);

/// The spectral step length (Barzilai and Borwein) s's / s'y of a step s that changed the gradient by y,
/// within wide bounds relative to the first length: a step beyond the upper one leaves the set whatever its
/// size, the lower one only keeps it positive. The upper one where there is no curvature along s.
double SpectralLength(double ss, double sy, double first_length);

/// Factor on a refused step, algorithm 1.
inline constexpr double kStepShrink = 0.5;

/// What a value is compared with before its step is taken.
enum class LineSearch {
  kLast,     ///< the last accepted value: Armijo's rule
  kAverage,  ///< the mean of the accepted values, with fading weights
  kMaximum,  ///< the largest of the last ten accepted values
};

/// Accepts values, or refuses them.
class LineSearchRule {
 public:
  explicit LineSearchRule(LineSearch search) : search_(search) {}

  void Start(double value);
  /// Whether a step of this share along a direction of this slope led low enough. Eq. (5), (9), (10).
  bool Accepts(double value, double step, double slope) const;
  /// The step was taken; a quadratic model had predicted this change. Eq. (11), (12).
  void Note(double value, double predicted_change);

 private:
  const LineSearch search_;
  double last_ = 0;
  double reference_ = 0, weight_ = 1;  // C and Q of eq. (10) to (12)
  double memory_ = 0;                  // eta
  std::deque<double> recent_;          // accepted values, for the maximum rule
};

/// Moves theta by such steps.
class GradientMethod : public WeightMethod {
 public:
  /// `inner_gap`: of every solve, relative; 0: as coarse as progress allows. The regulariser must outlive
  /// this.
  GradientMethod(const Regularizer& regularizer, std::unique_ptr<GradientSteps> steps, double inner_gap,
                 int patience)
      : regularizer_(regularizer), steps_(std::move(steps)), inner_gap_(inner_gap), patience_(patience) {}

  void Begin(std::span<double> theta) override { regularizer_.Start(theta); }
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  bool needs_precision() const override { return true; }
  double inner_gap() const override { return inner_gap_; }
  int patience() const override { return patience_; }

 private:
  const Regularizer& regularizer_;
  const std::unique_ptr<GradientSteps> steps_;
  const double inner_gap_;
  const int patience_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_GRADIENT_STEPS_H_
