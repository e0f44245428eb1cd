// What every solver of the dual problem takes and returns, so that one can stand in for another.
#ifndef KWEAVE_QP_SOLVER_H_
#define KWEAVE_QP_SOLVER_H_

#include <cstdint>
#include <span>

#include "compute/dual_solver.h"
#include "kweave/index.h"

namespace kweave {

struct SolverResult {
  SolverOutcome outcome = SolverOutcome::kConverged;
  std::int64_t steps = 0;
  std::int64_t rows_computed = 0;
  double violation = 0;  ///< of all variables, at the returned beta
  double objective = 0;  ///< by the gradient held
};

/// A solve paused between two steps. What is not asked for is not computed.
class SolverPause {
 public:
  virtual ~SolverPause() = default;
  virtual std::int64_t steps() const = 0;
  /// Of the variables not set aside; the full violation is never smaller.
  virtual double violation() const = 0;
  virtual double objective() const = 0;
  virtual std::span<const double> Beta() = 0;
  /// For all variables. The observer may overwrite it when it changes the matrix, see kMatrixChanged.
  virtual std::span<double> Gradient() = 0;
};

/// Sees a solve while it runs. Methods that move the kernel matrix inside a solve are observers.
class SolveObserver {
 public:
  enum class Verdict {
    kContinue,
    kStop,
    /// The row source now answers for another matrix and Gradient() holds K beta + linear of that matrix.
    kMatrixChanged,
  };
  virtual ~SolveObserver() = default;
  virtual Verdict Observe(SolverPause& pause) = 0;
  /// Called when all variables meet the tolerance; kStop ends the solve. To go on with the rows it holds,
  /// kContinue with a smaller tolerance; with another matrix, kMatrixChanged and any tolerance.
  virtual Verdict OnTolerance(SolverPause& pause, double& tolerance) { return Verdict::kStop; }
};

/// What a solver that meets its tolerance asks of its observer, which may be null. Writes the tolerance to go
/// on with.
inline SolveObserver::Verdict AskAtTolerance(SolveObserver* observer, SolverPause& pause, double& tolerance) {
  if (observer == nullptr) return SolveObserver::Verdict::kStop;
  double next = tolerance;
  const SolveObserver::Verdict verdict = observer->OnTolerance(pause, next);
  const bool is_same_matrix = verdict == SolveObserver::Verdict::kContinue;
  if (!(next >= 0) || (is_same_matrix && !(next < tolerance))) return SolveObserver::Verdict::kStop;
  tolerance = next;
  return verdict;
}

}  // namespace kweave

#endif  // KWEAVE_QP_SOLVER_H_
