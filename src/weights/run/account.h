// The account of a run: bounds, history, progress, and what certificates said of them.
//
// Holds    the bounds are the best of all solves: P of any theta and D of any beta are valid. Estimates say
//          when to stop, the certificate whether that is true.
#ifndef KWEAVE_WEIGHTS_RUN_ACCOUNT_H_
#define KWEAVE_WEIGHTS_RUN_ACCOUNT_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/run_control.h"
#include "certificate/certificate.h"
#include "kweave/summary.h"

namespace kweave {

/// What a run cost.
struct RunWork {
  std::int64_t iterations = 0;  ///< moves of theta
  std::int64_t solves = 0;
  double solve_seconds = 0;
  double weight_seconds = 0;
  double certificate_seconds = 0;

  RunWork& operator+=(const RunWork& other);
};

/// Factor on the gap that counts as progress. Anything below 1 tells progress from rounding; patience is
/// counted in steps that do not get there.
inline constexpr double kClearGapProgress = 0.9;

class RunAccount {
 public:
  /// `control`, which the account reports to, must outlive it; `least_size` is that of the Risk.
  RunAccount(double target_gap, RunControl& control, double least_size = 0);

  double primal() const { return primal_; }
  double dual() const { return dual_; }
  double gap() const { return primal_ - dual_; }
  double relative_gap() const { return RelativeGapTo(dual_); }
  double RelativeGapTo(double dual) const { return RelativeGap(primal_, dual, least_size_); }
  /// Whether it is better than all before.
  bool LowerPrimal(double primal);
  bool RaiseDual(double dual);
  /// Bounds that were found with other kernels may be wrong in their last digits: they are found again.
  void Forget();

  /// The relative gap that the estimates must reach before a certificate is worth its cost.
  double aim() const { return aim_; }
  bool IsWorthCertifying() const { return relative_gap() <= aim_ && !HasGivenUp(); }
  /// A certificate disagreed with the estimates.
  void NoteRefusal() { ++refusals_; }
  /// The solves were not precise enough, and what they are made of cannot be replaced.
  void LowerAim();
  /// Certificates disagreed too often.
  bool HasGivenUp() const;

  /// Adds a row to the history, its time and bounds filled in, or replaces the last; and reports it.
  void Record(const HistoryRow& row, std::int64_t iterations, bool is_repeated = false);
  /// The same with a measure of its own in place of bounds and gap.
  void RecordMeasure(const HistoryRow& row, std::int64_t iterations, bool is_repeated = false);
  std::vector<HistoryRow>& history() { return history_; }

  /// Whether the gap has fallen clearly since the last time it had; or the dual has risen by this share of
  /// the gap, if above 0. From then on steps are counted anew.
  bool NotesProgress(double clear_rise = 0);
  void CountStep(int steps = 1) { steps_since_progress_ += steps; }
  int steps_since_progress() const { return steps_since_progress_; }

 private:
  RunControl& control_;
  const double target_gap_, least_size_;
  double primal_ = std::numeric_limits<double>::infinity();
  double dual_ = -std::numeric_limits<double>::infinity();
  double aim_;
  int refusals_ = 0;
  double milestone_gap_ = std::numeric_limits<double>::infinity();  // at the last clear progress
  double milestone_dual_ = -std::numeric_limits<double>::infinity();
  int steps_since_progress_ = 0;
  std::vector<HistoryRow> history_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_ACCOUNT_H_
