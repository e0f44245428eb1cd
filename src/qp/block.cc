#include "qp/block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/offset.h"
#include "compute/cpu/smo_loops.h"
#include "qp/active_set.h"
#include "qp/block_rows.h"
#include "qp/solver_setup.h"
#include "qp/stall_watch.h"
#include "qp/working_set.h"

namespace kweave {

namespace {

// More variables than this in a set cost more to look at than they save; fewer than the least make no block.
constexpr Index kMostInSet = 512, kLeastInSet = 16;
// With no more variables than this the first set holds all of them.
constexpr Index kFew = 8;
// New rows a step: enough for an efficient product, few enough for their choice to be fresh; where few rows
// are kept, the share of them that a step may replace.
constexpr Index kLeastNewRows = 64, kMostNewRows = 128, kKeptPerNewRow = 16;
// The violation within a set is brought down to this share of the violation of all.
constexpr double kShareLeftInSet = 0.1;
// Near the end a set needs to be a little better than all must be.
constexpr double kShareOfTolerance = 0.9;
// Variables whose rows are at hand go alone while the worst pair of them violates this share of the worst of
// all.
constexpr double kWorthOfKeptRows = 0.5;
// A row is worth computing for a variable that violates this share of the worst of all.
constexpr double kWorthOfNewRow = 0.5;
// Columns of the rows added up at a time: their sums stay in the nearest cache.
constexpr Index kColumns = 1024, kColumnsPerPiece = 8 * kColumns;

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
class Block final : public DualSolver {
 public:
  Block(const DualProblem& problem, RowSource<T>& source, const SolverOptions& options)
      : problem_(problem),
        source_(source),
        options_(options),
        diagonal_(Offset(problem.size())),
        all_(problem, diagonal_),
        rows_(source, options, kLeastInSet),
        most_in_set_(std::min(kMostInSet, rows_.capacity())),
        set_(problem, diagonal_, most_in_set_),
        stall_watch_(problem.size()) {}

  // Diagonal, sides and ends.
  void Start(SolverState& state) override {
    if (state_ != nullptr) {  // another matrix
      rows_.Clear();
      stall_watch_.Reset(steps_);
    }
    state_ = &state;
    inputs_are_finite_ = FillDiagonal(problem_, source_, state, diagonal_);
    objective_ = Objective(problem_, state);
    all_.Fill(state);
    FindEnds();
  }

  SolverProgress Advance(double tolerance, std::int64_t most_steps) override {
    tolerance_ = tolerance;
    const std::int64_t first = steps_;
    pause_ = steps_ + most_steps;
    const SolverOutcome outcome = Run();
    all_.Save(*state_);
    state_->gradient_is_valid = IsFinite();
    return {outcome, steps_ - first, rows_.rows_computed(), violation(), objective_};
  }

  void CompleteGradient() override {}  // it always is

 private:
  SolverOutcome Run() {
    for (;;) {
      if (!IsFinite()) return SolverOutcome::kNotFinite;
      if (violation() <= tolerance_) return SolverOutcome::kConverged;
      if (IsStalled()) return SolverOutcome::kStalled;
      if (steps_ >= pause_) return SolverOutcome::kStepLimit;
      if (!Step()) return IsFinite() ? SolverOutcome::kStalled : SolverOutcome::kNotFinite;
    }
  }

  void FindEnds() { ends_ = FindGradientEnds(all_.gradient(), all_.kinks(), all_.sides(), all_.size()); }

  // One set of variables. False when no step is possible: the numbers no longer change or are not finite.
  bool Step() {
    ChooseSet();
    const std::span<const T* const> rows = rows_.Fetch(chosen_);
    if (!rows_.is_finite()) return false;
    set_.Assign(all_, chosen_, rows);
    const double target = std::max(kShareLeftInSet * violation(), kShareOfTolerance * tolerance_);
    const auto [steps, decrease] = set_.Solve(target, pause_ - steps_);
    steps_ += steps;
    objective_ -= decrease;
    MoveTo(set_.variables(), rows);
    FindEnds();
    return steps > 0;
  }

  // The set of the next step goes to chosen_, ascending. It holds the worst pair of all, or the worst of
  // those whose rows are at hand, so that a step is always possible.
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

  // Every variable that is part of a violating pair, by side and by whether its row is at hand. Returns the
  // violation of the worst pair of those whose rows are.
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

  bool IsStalled() {
    return stall_watch_.IsStalled(steps_, violation(), [this] {
      all_.Save(*state_);
      return Objective(problem_, *state_);
    });
  }

  bool IsFinite() const { return inputs_are_finite_ && rows_.is_finite() && std::isfinite(violation()); }

  double violation() const { return std::max(ends_.max_low - ends_.min_up, 0.0); }

  const DualProblem& problem_;
  RowSource<T>& source_;
  const SolverOptions& options_;
  SolverState* state_ = nullptr;  // current between batches
  double tolerance_ = 0;          // of the running batch
  std::int64_t pause_ = 0;        // steps at its end

  std::vector<double> diagonal_;  // K_kk of all variables
  ActiveSet all_;                 // a position in it is a sample
  BlockRows<T> rows_;
  Index most_in_set_;
  WorkingSet<T> set_;
  GradientEnds ends_;     // of all variables
  double objective_ = 0;  // by the decrease of each step
  std::int64_t steps_ = 0;
  bool inputs_are_finite_ = true;
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
  return SolveBy<Block, T>(problem, rows, state, options, observer);
}

template SolverResult SolveBlock(const DualProblem&, RowSource<float>&, SolverState&, const SolverOptions&,
                                 SolveObserver*);
template SolverResult SolveBlock(const DualProblem&, RowSource<double>&, SolverState&, const SolverOptions&,
                                 SolveObserver*);

}  // namespace kweave
