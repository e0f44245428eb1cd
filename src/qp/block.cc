#include "qp/block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/cpu/smo_loops.h"
#include "qp/active_set.h"
#include "qp/block_rows.h"
#include "qp/free_sum.h"
#include "qp/solver_setup.h"
#include "qp/stall_watch.h"
#include "qp/working_set.h"

namespace kweave {

namespace {

// More variables than this in a set cost more to look at than they save; fewer than the least make no block.
constexpr Index kMostInSet = 512, kLeastInSet = 16;
// With no more variables than this the first set holds all of them.
constexpr Index kFew = 8;
// New rows a step: enough for an efficient product, few enough for their choice to be fresh; where few rows are kept,
// the share of them that a step may replace.
constexpr Index kLeastNewRows = 64, kMostNewRows = 128, kKeptPerNewRow = 16;
// The violation within a set is brought down to this share of the violation of all.
constexpr double kShareLeftInSet = 0.1;
// Near the end a set needs to be a little better than all must be.
constexpr double kShareOfTolerance = 0.9;
// Variables whose rows are at hand go alone while the worst pair of them violates this share of the worst of all.
constexpr double kWorthOfKeptRows = 0.5;
// A row is worth computing for a variable that violates this share of the worst of all.
constexpr double kWorthOfNewRow = 0.5;
// Columns of the rows added up at a time: their sums stay in the nearest cache.
constexpr Index kColumns = 1024, kColumnsPerPiece = 8 * kColumns;

std::size_t Offset(Index i) { return static_cast<std::size_t>(i); }

// Those that violate most.
class Candidates {
 public:
  void Clear() { list_.clear(); }
  void Add(double violation, Index position) { list_.push_back({violation, position}); }
  Index size() const { return static_cast<Index>(list_.size()); }
  // Appends the positions of the `count` worst to `out`; equal ones by their order.
  void TakeWorst(Index count, std::vector<Index>& out) {
    if (count < size()) {
      std::nth_element(
          list_.begin(), list_.begin() + count, list_.end(), [](const Candidate& a, const Candidate& b) {
            return a.violation != b.violation ? a.violation > b.violation : a.position < b.position;
          });
    }
    for (Index k = 0; k < std::min(count, size()); ++k) out.push_back(list_[Offset(k)].position);
  }

 private:
  struct Candidate {
    double violation;
    Index position;
  };
  std::vector<Candidate> list_;
};

// Half of `room` from each side; where one has fewer, more from the other.
void TakeWorstOfBoth(Candidates& up, Candidates& low, Index room, std::vector<Index>& out) {
  const Index ups = std::min(up.size(), std::max(room / 2, room - low.size()));
  up.TakeWorst(ups, out);
  low.TakeWorst(room - ups, out);
}

template <class T>
class Block final : private SolverPause {
 public:
  Block(const DualProblem& problem, RowSource<T>& source, SolverState& state, const SolverOptions& options,
        SolveObserver* observer)
      : problem_(problem),
        source_(source),
        state_(state),
        options_(options),
        observer_(observer),
        tolerance_(options.tolerance),
        most_steps_(MostSteps(problem, options)),
        diagonal_(Offset(problem.size())),
        all_(problem, diagonal_),
        rows_(source, options, kLeastInSet),
        most_in_set_(std::min(kMostInSet, rows_.capacity())),
        set_(problem, diagonal_, most_in_set_),
        next_observation_(options.observe_every),
        stall_watch_(problem.size()) {}

  SolverResult Run() {
    CompleteGradient<T>(problem_, source_, state_);
    StartFromGradient();
    for (;;) {
      if (!IsFinite()) return Finish(SolverOutcome::kNotFinite);
      if (violation() <= tolerance_) {
        if (!GoesOn()) return Finish(SolverOutcome::kConverged);
        continue;
      }
      if (steps_ >= most_steps_) return Finish(SolverOutcome::kStepLimit);
      if (IsStalled()) return Finish(SolverOutcome::kStalled);
      if (IsTimeToObserve()) {
        if (!Observe()) return Finish(SolverOutcome::kStoppedByObserver);
        continue;
      }
      if (!Step()) return Finish(IsFinite() ? SolverOutcome::kStalled : SolverOutcome::kNotFinite);
    }
  }

 private:
  // Diagonal, sides and ends for state_.
  void StartFromGradient() {
    source_.Diagonal(diagonal_);
    for (std::size_t k = 0; k < problem_.curvature.size(); ++k) diagonal_[k] += problem_.curvature[k];
    inputs_are_finite_ =
        AllFinite(diagonal_.data(), problem_.size()) && AllFinite(state_.gradient.data(), problem_.size());
    objective_ = Objective(problem_, state_);
    all_.Fill(state_);
    FindEnds();
  }

  void FindEnds() { ends_ = FindGradientEnds(all_.gradient(), all_.kinks(), all_.sides(), all_.size()); }

  // One set of variables. False when no step is possible: the numbers no longer change or are not finite.
  bool Step() {
    ChooseSet();
    const std::span<const T* const> rows = rows_.Fetch(chosen_);
    if (!rows_.is_finite()) return false;
    set_.Assign(all_, chosen_, rows);
    const std::int64_t pause = observer_ ? std::min(most_steps_, next_observation_) : most_steps_;
    const double target = std::max(kShareLeftInSet * violation(), kShareOfTolerance * tolerance_);
    const auto [steps, decrease] = set_.Solve(target, pause - steps_);
    steps_ += steps;
    objective_ -= decrease;
    MoveTo(set_.variables(), rows);
    FindEnds();
    return steps > 0;
  }

  // The set of the next step goes to chosen_, ascending. It holds the worst pair of all, or the worst of those whose
  // rows are at hand, so that a step is always possible.
  void ChooseSet() {
    const double violation_at_hand = CollectCandidates();
    chosen_.clear();
    if (violation_at_hand <= std::max(kWorthOfKeptRows * violation(), tolerance_)) {
      const Index new_rows = std::clamp(rows_.capacity() / kKeptPerNewRow, kLeastNewRows, kMostNewRows);
      const Index room = std::max(most_in_set_ / 2, std::min(most_in_set_, kFew));
      TakeWorstOfBoth(new_up_, new_low_, std::min(new_rows, room), chosen_);
    }
    TakeWorstOfBoth(old_up_, old_low_, most_in_set_ - static_cast<Index>(chosen_.size()), chosen_);
    std::sort(chosen_.begin(), chosen_.end());
  }

  // Every variable that is part of a violating pair, by side and by whether its row is at hand. Returns the violation
  // of the worst pair of those whose rows are.
  double CollectCandidates() {
    for (Candidates* list : {&new_up_, &new_low_, &old_up_, &old_low_}) list->Clear();
    double min_up = std::numeric_limits<double>::infinity(), max_low = -min_up;
    const double worth_a_row = kWorthOfNewRow * violation();
    for (Index k = 0; k < all_.size(); ++k) {
      const float at = all_.sides()[k];
      const double as_up = at <= 0 ? ends_.max_low - all_.up_gradient(k) : 0;
      const double as_low = at >= 0 ? all_.low_gradient(k) - ends_.min_up : 0;
      if (!(as_up > 0 || as_low > 0)) continue;
      const bool is_up = as_up > as_low;
      if (rows_.Contains(k)) {
        if (at <= 0) min_up = std::min(min_up, all_.up_gradient(k));
        if (at >= 0) max_low = std::max(max_low, all_.low_gradient(k));
        (is_up ? old_up_ : old_low_).Add(is_up ? as_up : as_low, k);
      } else if (std::max(as_up, as_low) >= worth_a_row) {
        (is_up ? new_up_ : new_low_).Add(is_up ? as_up : as_low, k);
      }
    }
    return max_low - min_up;
  }

  // Takes over the values of the set, and their effect on the gradient of all.
  void MoveTo(const ActiveSet& set, std::span<const T* const> rows) {
    moved_rows_.clear();
    changes_.clear();
    for (Index k = 0; k < set.size(); ++k) {
      const Index position = set.sample(k);
      const double change = set.beta(k) - all_.beta(position);
      if (change == 0) continue;
      all_.SetBeta(position, set.beta(k));
      all_.gradient()[position] += change * all_.curvature(position);
      moved_rows_.push_back(rows[Offset(k)]);
      changes_.push_back(change);
    }
    ForPieces(options_.pool, all_.size(), kColumnsPerPiece, [this](Index first, Index last) {
      for (Index begin = first; begin < last; begin += kColumns) {
        AddScaledRows(changes_.data(), moved_rows_.data(), static_cast<Index>(changes_.size()), begin,
                      all_.gradient() + begin, std::min(kColumns, last - begin));
      }
    });
  }

  bool IsTimeToObserve() const { return observer_ != nullptr && steps_ >= next_observation_; }

  // False when the observer wants to stop.
  bool Observe() {
    next_observation_ = steps_ + std::max<std::int64_t>(options_.observe_every, 1);
    all_.Save(state_);
    switch (observer_->Observe(*this)) {
      case SolveObserver::Verdict::kContinue:
        return true;
      case SolveObserver::Verdict::kStop:
        return false;
      case SolveObserver::Verdict::kMatrixChanged:
        StartOnOtherMatrix();
        return true;
    }
    return true;
  }

  void StartOnOtherMatrix() {
    rows_.Clear();
    StartFromGradient();
    stall_watch_.Reset(steps_);
  }

  // True when the observer wants a solve that meets its tolerance to go on.
  bool GoesOn() {
    all_.Save(state_);
    const SolveObserver::Verdict verdict = AskAtTolerance(observer_, *this, tolerance_);
    if (verdict == SolveObserver::Verdict::kMatrixChanged) StartOnOtherMatrix();
    return verdict != SolveObserver::Verdict::kStop;
  }

  bool IsStalled() {
    return stall_watch_.IsStalled(steps_, violation(), [this] {
      all_.Save(state_);
      return Objective(problem_, state_);
    });
  }

  bool IsFinite() const { return inputs_are_finite_ && rows_.is_finite() && std::isfinite(violation()); }

  SolverResult Finish(SolverOutcome outcome) {
    all_.Save(state_);
    state_.gradient_is_valid = IsFinite();
    return {outcome, steps_, rows_.rows_computed(), violation(), Objective(problem_, state_)};
  }

  // SolverPause.
  std::int64_t steps() const override { return steps_; }
  double violation() const override { return std::max(ends_.max_low - ends_.min_up, 0.0); }
  double objective() const override { return objective_; }
  std::span<const double> Beta() override { return state_.beta; }
  std::span<double> Gradient() override { return state_.gradient; }

  const DualProblem& problem_;
  RowSource<T>& source_;
  SolverState& state_;  // current while the observer looks and at the end
  const SolverOptions& options_;
  SolveObserver* observer_;
  double tolerance_;  // options_.tolerance, until the observer asks for less
  std::int64_t most_steps_;

  std::vector<double> diagonal_;  // K_kk of all variables
  ActiveSet all_;                 // a position in it is a sample
  BlockRows<T> rows_;
  Index most_in_set_;
  WorkingSet<T> set_;
  GradientEnds ends_;     // of all variables
  double objective_ = 0;  // by the decrease of each step
  std::int64_t steps_ = 0;
  bool inputs_are_finite_ = true;
  std::int64_t next_observation_;
  StallWatch stall_watch_;

  // Of the current step.
  Candidates new_up_, new_low_, old_up_, old_low_;
  std::vector<Index> chosen_;
  std::vector<const T*> moved_rows_;
  std::vector<double> changes_;
};

}  // namespace

template <class T>
SolverResult SolveBlock(const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                        const SolverOptions& options, SolveObserver* observer) {
  ValidateSolve(problem, rows.size(), state, options);
  if (!problem.has_sum) return SolveFreeSum<T>(SolveBlock<T>, problem, rows, state, options, observer);
  return Block<T>(problem, rows, state, options, observer).Run();
}

template SolverResult SolveBlock(const DualProblem&, RowSource<float>&, SolverState&, const SolverOptions&,
                                 SolveObserver*);
template SolverResult SolveBlock(const DualProblem&, RowSource<double>&, SolverState&, const SolverOptions&,
                                 SolveObserver*);

}  // namespace kweave
