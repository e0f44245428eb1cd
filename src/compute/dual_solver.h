// A solve of the dual problem at one matrix, in batches of steps. The solvers of qp/ implement it on rows; a
// back end may implement it where its matrix lives (docs/dev/adding-a-back-end.md).
#ifndef KWEAVE_COMPUTE_DUAL_SOLVER_H_
#define KWEAVE_COMPUTE_DUAL_SOLVER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "kweave/index.h"

namespace kweave {

class ThreadPool;

/// The dual problem in signed form, beta_i = y_i alpha_i for classification:
///
///   minimise   1/2 beta' K beta + linear' beta + sum_i (kink_i |beta_i| + 1/2 curvature_i beta_i^2)
///   subject to lower_i <= beta_i <= upper_i,  sum beta = the sum of the starting point.
///
/// Classification: linear = -y, bounds [0, C_i] for y = +1 and [-C_i, 0] for y = -1. Regression: linear = -y,
/// kink = epsilon, bounds [-C_i, C_i]. Squared hinge: as classification, curvature = 1 / C_i, no upper bound.
///
/// The gradient of a state is that of the smooth part without the kinks, K beta + linear + curvature beta.
struct DualProblem {
  std::span<const double> linear;
  std::span<const double> lower;  ///< may be infinite, and so may upper
  std::span<const double> upper;
  std::span<const double> kink = {};       ///< not negative; empty: none
  std::span<const double> curvature = {};  ///< not negative; empty: none
  bool has_sum = true;                     ///< false: the sum of beta is free
  Index size() const { return static_cast<Index>(linear.size()); }
};

struct SolverOptions {
  /// Solved when max gradient over {beta > lower} - min gradient over {beta < upper} is at most this; with
  /// kinks, the derivative towards smaller beta in the first and towards larger beta in the second.
  double tolerance = 1e-3;
  std::int64_t max_steps = 0;                        ///< 0: the larger of 10 million and 100 per sample
  std::size_t cache_bytes = std::size_t{256} << 20;  ///< kernel rows kept; never less than a handful of them
  MemoryReserve* reserve = nullptr;                  ///< for these rows, where solves follow each other
  Index rows_per_batch = 32;                         ///< SMO: most rows asked of the source in one call
  bool use_shrinking = true;                         ///< set variables aside that look settled at a bound
  std::int64_t observe_every = 1000;                 ///< steps between two calls of the observer
  ThreadPool* pool = nullptr;                        ///< for the loops of the block solver; null: one thread
};

/// Where a solve starts and ends. Any feasible beta is a start; a gradient that belongs to it saves computing
/// it.
struct SolverState {
  std::vector<double> beta;
  /// K beta + linear + curvature beta, without kinks; up to a common constant where the sum is fixed.
  std::vector<double> gradient;
  bool gradient_is_valid = false;
};

enum class SolverOutcome {
  kConverged,  ///< the tolerance holds for all variables
  kStepLimit,
  kStoppedByObserver,
  kStalled,    ///< steps no longer change anything: the precision of the rows is used up
  kNotFinite,  ///< a kernel value or gradient was infinite or not a number; beta is the last good one
};

/// What a batch of steps came to.
struct SolverProgress {
  SolverOutcome outcome = SolverOutcome::kConverged;  ///< kStepLimit: the steps were used up
  std::int64_t steps = 0;                             ///< taken in this batch
  std::int64_t rows_computed = 0;                     ///< so far
  /// Of the variables looked at; where that is not all of them, that of all is never smaller. kConverged: of
  /// all.
  double violation = 0;
  double objective = 0;  ///< by the gradient held
};

/// A step moves two variables, or one where the sum is free. The problem must outlive it.
class DualSolver {
 public:
  virtual ~DualSolver() = default;
  /// From a feasible beta and its gradient, at the matrix as it is now; also when the matrix became another
  /// one. `state` is written by the calls below.
  virtual void Start(SolverState& state) = 0;
  /// Up to `most_steps` steps (by sets: no new set after them), and none once all meet `tolerance`. Brings
  /// state.beta up to date, and state.gradient unless gradient_is_valid says that some of it is left behind.
  virtual SolverProgress Advance(double tolerance, std::int64_t most_steps) = 0;
  /// Brings all of state.gradient up to date.
  virtual void CompleteGradient() = 0;
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_DUAL_SOLVER_H_
