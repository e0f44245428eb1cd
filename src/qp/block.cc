#include "qp/block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/offset.h"
#include "compute/cpu/smo_loops.h"
#include "qp/active_set.h"
#include "qp/block_rows.h"
#include "qp/row_store.h"
#include "qp/solver_setup.h"
#include "qp/stall_watch.h"
#include "qp/working_set.h"

namespace kweave {

namespace {

// The larger a set, the fewer of them, and choosing one costs a pass over all variables. Measured with 16
// threads on 20,000 to 93,000 samples: solves with sets of 512 take two to ten times as long. Larger ones
// were not tried.
constexpr Index kMostInSet = 2048;
// With no more variables than this the first set holds all of them.
constexpr Index kFew = 8;
// New rows a step: half a set at most, or where few rows are kept, the share of them that a step may replace;
// enough for an efficient product.
constexpr Index kLeastNewRows = 64, kKeptPerNewRow = 16;
// The violation within a set is brought down to this share of the violation of all. Most variables of a set
// stay where they are; to make more of it costs steps on variables that the next set moves again.
constexpr double kShareLeftInSet = 0.3;
// Near the end a set needs to be a little better than all must be.
constexpr double kShareOfTolerance = 0.9;
// A piece offers this many times its share of a set: violators are not spread evenly.
constexpr Index kMostShares = 4;

// Those that violate most.
class Candidates {
 public:
  void Clear() { list_.clear(); }
  void Add(double violation, Index position) { list_.push_back({violation, position}); }
  void Add(const Candidates& others) { list_.insert(list_.end(), others.list_.begin(), others.list_.end()); }
  Index size() const { return static_cast<Index>(list_.size()); }
  // Only the `count` worst stay; of equal ones the first.
  void KeepWorst(Index count) {
    if (count >= size()) return;
    std::nth_element(
        list_.begin(), list_.begin() + count, list_.end(), [](const Candidate& a, const Candidate& b) {
          return a.violation != b.violation ? a.violation > b.violation : a.position < b.position;
        });
    list_.resize(Offset(count));
  }
  // Appends the positions of the `count` worst to `out`.
  void TakeWorst(Index count, std::vector<Index>& out) {
    KeepWorst(count);
    for (const Candidate& candidate : list_) out.push_back(candidate.position);
  }

 private:
  struct Candidate {
    double violation;
    Index position;
  };
  std::vector<Candidate> list_;
};

// Variables that may grow and variables that may fall.
struct Sides {
  Candidates up, low;

  void Clear() { up.Clear(), low.Clear(); }
  void KeepWorst(Index count) { up.KeepWorst(count), low.KeepWorst(count); }
  void Add(const Sides& others) { up.Add(others.up), low.Add(others.low); }
  // Half of `room` from each side; where one has fewer, more from the other.
  void TakeWorst(Index room, std::vector<Index>& out) {
    const Index ups = std::min(up.size(), std::max(room / 2, room - low.size()));
    up.TakeWorst(ups, out);
    low.TakeWorst(room - ups, out);
  }
};

// The variables of a violating pair, by whether their rows are at hand.
struct Offer {
  Sides with_row, without_row;
  GradientEnds ends;  // of those with a row

  void Clear() {
    with_row.Clear(), without_row.Clear();
    ends = {};
  }
};

// The ends of two sets of variables together; where they are is not known.
void Join(const GradientEnds& other, GradientEnds& ends) {
  ends.min_up = std::min(ends.min_up, other.min_up);
  ends.max_low = std::max(ends.max_low, other.max_low);
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
        set_(problem, diagonal_, most_in_set_, options.pool),
        stall_watch_(problem.size()),
        ends_of_pieces_(Offset((problem.size() + kColumnsPerPiece - 1) / kColumnsPerPiece)),
        offers_(ends_of_pieces_.size()) {}

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
    changes_.clear();
    UpdateGradient();
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
    return steps > 0;
  }

  // The set of the next step goes to chosen_, ascending. It holds the worst pair of all, or the worst of
  // those whose rows are at hand, so that a step is always possible.
  void ChooseSet() {
    CollectOffers();
    chosen_.clear();
    const double violation_at_hand = offer_.ends.max_low - offer_.ends.min_up;
    if (violation_at_hand <= std::max(kWorthOfRow * violation(), tolerance_)) {
      const Index new_rows = std::max(rows_.capacity() / kKeptPerNewRow, kLeastNewRows);
      const Index room = std::max(most_in_set_ / 2, std::min(most_in_set_, kFew));
      offer_.without_row.TakeWorst(std::min(new_rows, room), chosen_);
    }
    offer_.with_row.TakeWorst(most_in_set_ - static_cast<Index>(chosen_.size()), chosen_);
    std::sort(chosen_.begin(), chosen_.end());
  }

  // What all pieces offer goes to offer_.
  void CollectOffers() {
    const Index pieces = static_cast<Index>(offers_.size());
    const Index most = std::min(most_in_set_, kMostShares * most_in_set_ / pieces + 1);
    ForPieces(options_.pool, all_.size(), kColumnsPerPiece, [&](Index first, Index last) {
      CollectOffer(first, last, offers_[Offset(first / kColumnsPerPiece)]);
      offers_[Offset(first / kColumnsPerPiece)].with_row.KeepWorst(most);
      offers_[Offset(first / kColumnsPerPiece)].without_row.KeepWorst(most);
    });
    offer_.Clear();
    for (const Offer& piece : offers_) {
      offer_.with_row.Add(piece.with_row);
      offer_.without_row.Add(piece.without_row);
      Join(piece.ends, offer_.ends);
    }
  }

  // Every variable of [first, last) that is part of a violating pair.
  void CollectOffer(Index first, Index last, Offer& offer) const {
    offer.Clear();
    const double worth_a_row = kWorthOfRow * violation();
    for (Index k = first; k < last; ++k) {
      const float at = all_.sides()[k];
      const double as_up = at <= 0 ? ends_.max_low - all_.up_gradient(k) : 0;
      const double as_low = at >= 0 ? all_.low_gradient(k) - ends_.min_up : 0;
      if (!(as_up > 0 || as_low > 0)) continue;
      const bool has_row = rows_.Contains(k);
      if (has_row) {
        if (at <= 0) offer.ends.min_up = std::min(offer.ends.min_up, all_.up_gradient(k));
        if (at >= 0) offer.ends.max_low = std::max(offer.ends.max_low, all_.low_gradient(k));
      } else if (std::max(as_up, as_low) < worth_a_row) {
        continue;
      }
      Sides& sides = has_row ? offer.with_row : offer.without_row;
      as_up > as_low ? sides.up.Add(as_up, k) : sides.low.Add(as_low, k);
    }
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
    UpdateGradient();
  }

  // Adds the rows of what moved, and finds the ends.
  void UpdateGradient() {
    ForPieces(options_.pool, all_.size(), kColumnsPerPiece, [this](Index first, Index last) {
      for (Index begin = first; begin < last; begin += kColumnsAdded) {
        AddScaledRows(changes_.data(), moved_rows_.data(), static_cast<Index>(changes_.size()), begin,
                      all_.gradient() + begin, std::min(kColumnsAdded, last - begin));
      }
      const double* kinks = all_.kinks();
      ends_of_pieces_[Offset(first / kColumnsPerPiece)] =
          FindGradientEnds(all_.gradient() + first, kinks == nullptr ? nullptr : kinks + first,
                           all_.sides() + first, last - first);
    });
    ends_ = {};
    for (const GradientEnds& piece : ends_of_pieces_) Join(piece, ends_);
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
  std::vector<GradientEnds> ends_of_pieces_;
  std::vector<Offer> offers_;  // of the pieces
  Offer offer_;                // of all of them
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
