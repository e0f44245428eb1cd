// How theta moves between two solves. A new method is one file pair, its test and one line of
// method_table.cc.
#ifndef KWEAVE_WEIGHTS_RUN_WEIGHT_METHOD_H_
#define KWEAVE_WEIGHTS_RUN_WEIGHT_METHOD_H_

#include <cstdint>
#include <span>
#include <vector>

#include "weights/run/machine.h"

namespace kweave {

/// Factor on the sum of weights that have a cost, up to which a model of few solves is believed: it grows by
/// as much with every solve.
inline constexpr double kMostGrowth = 10;

/// A feasible beta and a lower bound on its D(beta).
struct DualPoint {
  std::vector<double> beta;
  double bound = 0;
};

/// Where the run stands when a method is asked to move.
struct RunState {
  double relative_gap = 1;  ///< of the best bounds so far
  double target_gap = 0;
  bool has_start = false;  ///< theta began at the weights of another run
};

/// Solves without clear progress after which a run counts as stalled: models are made precise within some
/// ten. The papers' methods need more: with many kernels one cutting plane for each comes before the first
/// that helps, and plain steps are small.
inline constexpr int kPatience = 40, kBaselinePatience = 200;

class WeightMethod {
 public:
  virtual ~WeightMethod() = default;

  /// Writes the first theta.
  virtual void Begin(std::span<double> theta) = 0;

  /// Writes the next theta, given what the solve at the last one found; `machine` is still at that solve.
  virtual void Move(const Evaluation& last, const Machine& machine, const RunState& state,
                    std::span<double> theta) = 0;

  /// Whether solves without clear progress are to be more precise than the gap asks for: where models are
  /// better than the solves they are made of.
  virtual bool needs_precision() const { return false; }
  /// By which factor the last move brings the gap down where all goes well: the next solve must show that.
  virtual double hoped_rate() const { return 1; }
  /// Relative inner gap to solve to, or 0: as precise as the outer gap asks for.
  virtual double inner_gap() const { return 0; }

  /// A better dual point than the betas of single solves, or null. Valid until the next move.
  virtual const DualPoint* dual_point() { return nullptr; }

  /// Solves without clear progress after which the run counts as stalled.
  virtual int patience() const { return kPatience; }

  /// Steps so far that were not the method's own: taken where its numbers broke down.
  virtual std::int64_t fallbacks() const { return 0; }
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_WEIGHT_METHOD_H_
