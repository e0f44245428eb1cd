#include "qp/smo.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/offset.h"
#include "compute/cpu/smo_loops.h"
#include "qp/active_set.h"
#include "qp/pair_step.h"
#include "qp/row_store.h"
#include "qp/solver_setup.h"
#include "qp/stall_watch.h"

namespace kweave {

namespace {

// Packing the active variables pays off when this share of them can be set aside.
constexpr double kLeastShrinkage = 0.6;
constexpr Index kMostStepsBetweenShrinks = 1000;
// Variables set aside too early are looked for once, when the violation is this many tolerances.
constexpr double kEarlyRecheck = 10;

template <class T>
class Smo final : public DualSolver {
 public:
  Smo(const DualProblem& problem, RowSource<T>& source, const SolverOptions& options)
      : problem_(problem),
        source_(source),
        options_(options),
        diagonal_(Offset(problem.size())),
        active_(problem, diagonal_),
        rows_(source, options,
              [this](Index row, Index count, std::vector<Index>& companions) {
                ChooseCompanions(row, count, companions);
              }),
        next_shrink_(StepsBetweenShrinks()),
        stall_watch_(problem.size()) {}

  // Diagonal and the first working set.
  void Start(SolverState& state) override {
    if (state_ != nullptr) {  // another matrix
      rows_.Clear();
      stall_watch_.Reset(steps_);
    }
    state_ = &state;
    inputs_are_finite_ = FillDiagonal(problem_, source_, state, diagonal_);
    objective_ = Objective(problem_, state);
    TakeAll();
    did_early_recheck_ = false;
    tolerance_ = std::numeric_limits<double>::infinity();
  }

  SolverProgress Advance(double tolerance, std::int64_t most_steps) override {
    if (tolerance < tolerance_) {
      const bool was_met = violation() <= tolerance_ && active_.is_whole() && std::isfinite(tolerance_);
      tolerance_ = tolerance;
      did_early_recheck_ = false;
      if (was_met && violation() > tolerance_) Shrink();
    }
    tolerance_ = tolerance;
    const std::int64_t first = steps_;
    pause_ = steps_ + most_steps;
    const SolverOutcome outcome = Run();
    active_.Save(*state_);
    state_->gradient_is_valid = IsFinite() && active_.is_whole();
    return {outcome, steps_ - first, rows_.rows_computed(), violation(), objective_};
  }

  void CompleteGradient() override {
    if (!active_.is_whole()) CompleteGradientOfAll();
    state_->gradient_is_valid = IsFinite();
  }

 private:
  SolverOutcome Run() {
    for (;;) {
      if (!IsFinite()) return SolverOutcome::kNotFinite;
      if (violation() <= tolerance_) {
        if (active_.is_whole()) return SolverOutcome::kConverged;
        ActivateAll();
        if (violation() > tolerance_) Shrink();
        continue;
      }
      if (IsStalled()) return SolverOutcome::kStalled;
      if (IsTimeToShrink()) Shrink();
      if (steps_ >= pause_) return SolverOutcome::kStepLimit;
      if (!StepOnBestPair()) return IsFinite() ? SolverOutcome::kStalled : SolverOutcome::kNotFinite;
    }
  }

  // All variables active with the values of state_.
  void TakeAll() {
    active_.Fill(*state_);
    rows_.SetActive({});
    rows_marked_ = -1;
    LookAtAll();
  }

  // The best pair of all active variables, whose rows may have to be computed; then, while it pays, the best
  // pairs of those whose rows are at hand. False when no step is possible: the numbers no longer change or
  // are not finite.
  bool StepOnBestPair() {
    const double enough = kWorthOfRow * violation();
    if (!Step(active_.sides())) return false;
    std::int64_t pause = std::min(pause_, stall_watch_.next_check());
    if (options_.use_shrinking) pause = std::min(pause, next_shrink_);
    const double target = std::max(tolerance_, active_.has_all_rows() ? 0 : enough);
    while (violation() > target && steps_ < pause && Step(active_.cached_sides())) {
    }
    if (!active_.has_all_rows()) LookAtAll();
    return true;
  }

  void LookAtAll() {
    ends_ = FindGradientEnds(active_.gradient(), active_.kinks(), active_.sides(), active_.size());
  }

  // One step on the best pair among the variables that `sides` does not fix, whose ends are ends_. Leaves the
  // ends of those whose rows are at hand. False when no step is possible.
  bool Step(const float* sides) {
    const Index i = ends_.up;
    const T* row_i = rows_.ActiveRow(i);
    if (!rows_.is_finite()) return false;
    const Index j = FindPartner(active_, sides, i, row_i);
    if (j < 0) return false;
    const T* row_j = rows_.ActiveRow(j);
    if (!rows_.is_finite()) return false;
    MarkCachedRows();
    double decrease = 0;
    if (!StepOnPair(active_, i, j, row_i, row_j, ends_, decrease)) return false;
    objective_ -= decrease;
    ++steps_;
    return true;
  }

  void MarkCachedRows() {
    if (rows_.rows_computed() == rows_marked_) return;
    rows_marked_ = rows_.rows_computed();
    active_.MarkRows([this](Index k) { return rows_.Contains(k); });
  }

  std::int64_t StepsBetweenShrinks() const { return std::min(problem_.size(), kMostStepsBetweenShrinks); }

  bool IsTimeToShrink() {
    if (!options_.use_shrinking) return false;
    if (!did_early_recheck_ && !active_.is_whole() && violation() <= kEarlyRecheck * tolerance_) {
      did_early_recheck_ = true;
      ActivateAll();
      return true;
    }
    return steps_ >= next_shrink_;
  }

  // Sets variables aside that are at a bound or a kink and would stay there at any value between the ends of
  // the gradient.
  void Shrink() {
    if (!options_.use_shrinking) return;
    next_shrink_ = steps_ + StepsBetweenShrinks();
    std::vector<Index> kept;
    for (Index k = 0; k < active_.size(); ++k) {
      const float at = active_.sides()[k];
      const bool is_between = at == side::kFree && active_.up_gradient(k) == active_.low_gradient(k);
      const bool may_grow = at <= 0 && active_.up_gradient(k) <= ends_.max_low;
      const bool may_fall = at >= 0 && active_.low_gradient(k) >= ends_.min_up;
      if (is_between || may_grow || may_fall) kept.push_back(k);
    }
    if (static_cast<double>(kept.size()) > (1 - kLeastShrinkage) * static_cast<double>(active_.size()))
      return;
    active_.Save(*state_);
    if (active_.is_whole()) whole_ = *state_;
    active_.Keep(kept);
    rows_.SetActive(active_.samples());
    rows_marked_ = -1;
    LookAtAll();
  }

  void ActivateAll() {
    if (active_.is_whole()) return;
    CompleteGradientOfAll();
    TakeAll();
  }

  // Brings the gradient of the variables set aside up to date: from the last time all were active, by the
  // rows of the variables that moved since. Those rows were all in use, so most are still in the cache.
  void CompleteGradientOfAll() {
    SolverState& state = *state_;
    active_.Save(state);
    std::vector<Index> moved;
    for (Index k = 0; k < problem_.size(); ++k) {
      if (state.beta[Offset(k)] != whole_.beta[Offset(k)]) moved.push_back(k);
    }
    state.gradient = whole_.gradient;
    rows_.ForEachRow(moved, [&](Index k, const T* row) {
      AddScaledRow(state.beta[Offset(k)] - whole_.beta[Offset(k)], row, state.gradient.data(),
                   problem_.size());
    });
    for (const Index k : moved) {
      if (problem_.curvature.empty()) break;
      state.gradient[Offset(k)] +=
          problem_.curvature[Offset(k)] * (state.beta[Offset(k)] - whole_.beta[Offset(k)]);
    }
    active_.Save(state);
  }

  // The rows most likely to be wanted next: of the active variables that violate most.
  void ChooseCompanions(Index row, Index count, std::vector<Index>& companions) {
    candidates_.clear();
    for (Index k = 0; k < active_.size(); ++k) {
      const float at = active_.sides()[k];
      const double as_up = at <= 0 ? ends_.max_low - active_.up_gradient(k) : 0;
      const double as_low = at >= 0 ? active_.low_gradient(k) - ends_.min_up : 0;
      const double violation = std::max(as_up, as_low);
      const Index sample = active_.sample(k);
      if (violation > 0 && sample != row && !rows_.Contains(sample))
        candidates_.push_back({violation, sample});
    }
    const std::size_t chosen = std::min(Offset(count), candidates_.size());
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(chosen),
                      candidates_.end(), [](const Candidate& a, const Candidate& b) {
                        return a.violation != b.violation ? a.violation > b.violation : a.sample < b.sample;
                      });
    for (std::size_t c = 0; c < chosen; ++c) companions.push_back(candidates_[c].sample);
  }

  bool IsStalled() {
    const bool is_stalled = stall_watch_.IsStalled(steps_, violation(), [this] {
      ActivateAll();
      return CurrentObjective();
    });
    return is_stalled && violation() > tolerance_;
  }

  double CurrentObjective() {
    active_.Save(*state_);
    return Objective(problem_, *state_);
  }

  bool IsFinite() const { return inputs_are_finite_ && rows_.is_finite() && std::isfinite(violation()); }

  double violation() const { return std::max(ends_.max_low - ends_.min_up, 0.0); }

  struct Candidate {
    double violation;
    Index sample;
  };

  const DualProblem& problem_;
  RowSource<T>& source_;
  const SolverOptions& options_;
  SolverState* state_ =
      nullptr;  // current for all variables whenever all are active; else for beta of those set aside
  double tolerance_ = 0;    // of the running batch
  std::int64_t pause_ = 0;  // steps at its end

  std::vector<double> diagonal_;  // K_kk of all variables
  ActiveSet active_;
  RowStore<T> rows_;
  GradientEnds ends_;     // of the active variables; ends_.up is the next i
  SolverState whole_;     // when the first variable was set aside: beta and gradient of all
  double objective_ = 0;  // by the decrease of each step
  std::int64_t steps_ = 0;
  bool inputs_are_finite_ = true;
  bool did_early_recheck_ = false;
  std::int64_t next_shrink_;
  StallWatch stall_watch_;
  std::int64_t rows_marked_ = -1;  // rows computed when active_ was last told which ones are at hand
  std::vector<Candidate> candidates_;
};

}  // namespace

template <class T>
SolverResult SolveSmo(const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                      const SolverOptions& options, SolveObserver* observer) {
  return SolveBy<Smo, T>(problem, rows, state, options, observer);
}

template SolverResult SolveSmo(const DualProblem&, RowSource<float>&, SolverState&, const SolverOptions&,
                               SolveObserver*);
template SolverResult SolveSmo(const DualProblem&, RowSource<double>&, SolverState&, const SolverOptions&,
                               SolveObserver*);

}  // namespace kweave
