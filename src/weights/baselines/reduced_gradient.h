// Solves   minimise J(theta) over the simplex (p = 1).
// Method   reduced gradients (Rakotomamonjy, Bach, Canu, Grandvalet: SimpleMKL, JMLR 2008, algorithm 1; their
//          d is our theta): the largest weight takes up what the others change (eq. (12)). A full step, to
//          where a first weight vanishes, is tried before any other; as long as it lowers J the way goes on
//          from there without that weight, and without a new gradient. Then a line search between the last
//          two points. Its rule is left open there; here it is the secant of the slopes, which a solve gives
//          with its value, until the slope is a tenth of the first.
// Takes    the evaluation at the last theta; writes the next one.
// Holds    theta is in the simplex.
// Costs    O(M) per solve; every solve is precise, as comparing values asks for.
#ifndef KWEAVE_WEIGHTS_BASELINES_REDUCED_GRADIENT_H_
#define KWEAVE_WEIGHTS_BASELINES_REDUCED_GRADIENT_H_

#include <cstddef>
#include <vector>

#include "regularizer/regularizer.h"
#include "weights/run/weight_method.h"

namespace kweave {

class ReducedGradient : public WeightMethod {
 public:
  /// The regulariser, which must outlive this, is the simplex.
  explicit ReducedGradient(const Regularizer& regularizer) : regularizer_(regularizer) {}

  void Begin(std::span<double> theta) override { regularizer_.Start(theta); }
  void Move(const Evaluation& last, const Machine& machine, const RunState& state,
            std::span<double> theta) override;
  int patience() const override { return kBaselinePatience; }
  double inner_gap() const override;

 private:
  void ChooseDirection(const Evaluation& last);
  void ChooseFullStep();
  bool GoesOn(const Evaluation& last);
  bool Searches(const Evaluation& last);
  void Ask(double step, std::span<double> theta);
  double Slope(const Evaluation& last) const;

  const Regularizer& regularizer_;
  const Gram* gram_ = nullptr;     // what values below were found with
  std::vector<double> theta_;      // d, where the line begins
  std::vector<double> direction_;  // D
  std::vector<double> asked_;      // the point given out last
  std::size_t largest_ = 0;        // mu
  std::size_t vanishing_ = 0;      // nu
  double value_ = 0;               // J(d)
  double full_step_ = 0;           // gamma_max
  double low_ = 0, high_ = 0;      // the bracket of the line search, and slopes at its ends
  double low_slope_ = 0, high_slope_ = 0, first_slope_ = 0;
  double step_ = 0;  // gamma of the point asked for
  int trials_ = 0;   // of the line search; 0: the full step is tried
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_BASELINES_REDUCED_GRADIENT_H_
