#include "weights/run/account.h"

#include "base/constants.h"

namespace kweave {

namespace {

// Of the target, for estimates: the certificate adds bounds on rounding and tables, small against the gap.
constexpr double kAimBelowTarget = 0.9;
// Each refusal lowers the aim to this share: four of them, by two orders of magnitude, show that
// more steps do not help.
constexpr double kAimAfterRefusal = 0.3;
constexpr int kMostRefusals = 4;

}  // namespace

RunWork& RunWork::operator+=(const RunWork& other) {
  iterations += other.iterations;
  solves += other.solves;
  solve_seconds += other.solve_seconds;
  weight_seconds += other.weight_seconds;
  certificate_seconds += other.certificate_seconds;
  return *this;
}

RunAccount::RunAccount(double target_gap, RunControl& control, double least_size)
    : control_(control),
      target_gap_(target_gap),
      least_size_(least_size),
      aim_(kAimBelowTarget * target_gap) {}

bool RunAccount::LowerPrimal(double primal) {
  if (!(primal < primal_)) return false;
  primal_ = primal;
  return true;
}

bool RunAccount::RaiseDual(double dual) {
  if (!(dual > dual_)) return false;
  dual_ = dual;
  return true;
}

void RunAccount::Forget() {
  primal_ = milestone_gap_ = kInfinity;
  dual_ = milestone_dual_ = -kInfinity;
  steps_since_progress_ = 0;
}

void RunAccount::LowerAim() { aim_ *= kAimAfterRefusal; }

bool RunAccount::HasGivenUp() const { return refusals_ > kMostRefusals; }

void RunAccount::Record(const HistoryRow& row, std::int64_t iterations, bool is_repeated) {
  HistoryRow filled = row;
  filled.primal = primal_;
  filled.dual = dual_;
  filled.relative_gap = relative_gap();
  RecordMeasure(filled, iterations, is_repeated);
}

void RunAccount::RecordMeasure(const HistoryRow& row, std::int64_t iterations, bool is_repeated) {
  if (!is_repeated) history_.emplace_back();
  history_.back() = row;
  history_.back().seconds = control_.Seconds();
  control_.Report({.relative_gap = row.relative_gap,
                   .target_gap = target_gap_,
                   .iterations = iterations,
                   .solves = row.solves,
                   .phase = "solve"});
}

bool RunAccount::NotesProgress(double clear_rise) {
  const bool is_closer = gap() < kInfinity && gap() <= kClearGapProgress * milestone_gap_;
  const bool is_higher = clear_rise > 0 && dual_ >= milestone_dual_ + clear_rise * milestone_gap_;
  if (!is_closer && !is_higher) return false;
  milestone_gap_ = gap();
  milestone_dual_ = dual_;
  steps_since_progress_ = 0;
  return true;
}

}  // namespace kweave
