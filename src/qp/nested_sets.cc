#include "qp/nested_sets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/offset.h"
#include "compute/product_matrix.h"
#include "qp/active_set.h"
#include "qp/smo.h"
#include "qp/solver_setup.h"

namespace kweave {

namespace {

// Variables of a block: solving 4,000 to 8,000 by pairs costs about as much as one product with 100,000
// sequences of 400 letters.
constexpr Index kMostInBlock = 6000;
// So few are a block as a whole, and so few variables in all are left to other solvers.
constexpr Index kWholeBlock = 8000;
// An active set has so many times the variables that are not zero, and so many blocks.
constexpr Index kActivePerSupport = 2, kBlocksPerActive = 2;
// With more than this share of all variables the active set is all of them.
constexpr double kMostActive = 0.5;
// What a level leaves of the violation it found: a block of that of the active set, the active set of that of
// all.
constexpr double kShareOfBlock = 0.1, kShareOfActive = 0.1;
// Near the end a level must be a little better than the one above.
constexpr double kShareOfTolerance = 0.9;
// Blocks inside one active set before all variables are looked at again.
constexpr int kMostBlocks = 40;

// The rows of a block as SMO asks for them.
class PartRows final : public RowSource<float> {
 public:
  explicit PartRows(const ProductMatrix& matrix) : matrix_(matrix) {}
  Index size() const override { return matrix_.size(); }
  void Diagonal(std::span<double> out) override { matrix_.Diagonal(out); }
  void Rows(std::span<const Index> rows, float* out, Index stride) override {
    matrix_.Rows(rows, out, stride);
  }
  void Multiply(std::span<const double> beta, std::span<double> out) override { matrix_.Multiply(beta, out); }

 private:
  const ProductMatrix& matrix_;
};

// Some variables of a problem as a problem of their own; all others stand still.
struct Subproblem {
  Subproblem(const DualProblem& whole, std::span<const Index> variables) {
    const auto take = [&](std::span<const double> from, std::vector<double>& to) {
      for (const Index k : variables) {
        if (!from.empty()) to.push_back(from[Offset(k)]);
      }
    };
    take(whole.linear, linear);
    take(whole.lower, lower);
    take(whole.upper, upper);
    take(whole.kink, kink);
    take(whole.curvature, curvature);
  }
  DualProblem view() const { return {linear, lower, upper, kink, curvature, true}; }

  std::vector<double> linear, lower, upper, kink, curvature;
};

// A variable and how much it violates the conditions; below 0: how far it is from that.
struct Ranked {
  double violation;
  Index variable;
  bool may_grow;  // it violates them by what it gains when it grows
};

struct Ends {
  double min_up = std::numeric_limits<double>::infinity(), max_low = -min_up;
  double violation() const { return std::max(max_low - min_up, 0.0); }
};

class Slopes {
 public:
  Slopes(const DualProblem& problem, const SolverState& state) : problem_(problem), state_(state) {}
  float side(Index k) const {
    return SideOf(state_.beta[Offset(k)], problem_.lower[Offset(k)], problem_.upper[Offset(k)]);
  }
  double up(Index k) const {
    return state_.gradient[Offset(k)] + (state_.beta[Offset(k)] >= 0 ? kink(k) : -kink(k));
  }
  double low(Index k) const {
    return state_.gradient[Offset(k)] + (state_.beta[Offset(k)] > 0 ? kink(k) : -kink(k));
  }

  Ends FindEnds() const {
    Ends ends;
    for (Index k = 0; k < problem_.size(); ++k) {
      if (side(k) <= 0) ends.min_up = std::min(ends.min_up, up(k));
      if (side(k) >= 0) ends.max_low = std::max(ends.max_low, low(k));
    }
    return ends;
  }
  // Every variable that is not fixed.
  std::vector<Ranked> Rank(const Ends& ends) const {
    std::vector<Ranked> ranked;
    for (Index k = 0; k < problem_.size(); ++k) {
      const float at = side(k);
      if (!(at <= 0 || at >= 0)) continue;
      const double as_up = at <= 0 ? ends.max_low - up(k) : -std::numeric_limits<double>::infinity();
      const double as_low = at >= 0 ? low(k) - ends.min_up : -std::numeric_limits<double>::infinity();
      ranked.push_back({std::max(as_up, as_low), k, as_up > as_low});
    }
    return ranked;
  }

 private:
  double kink(Index k) const { return problem_.kink.empty() ? 0 : problem_.kink[Offset(k)]; }
  const DualProblem& problem_;
  const SolverState& state_;
};

// The `count` that violate most, as far as possible half of them to grow and half to fall, ascending.
std::vector<Index> TakeWorst(std::vector<Ranked> ranked, Index count) {
  const auto middle =
      std::partition(ranked.begin(), ranked.end(), [](const Ranked& r) { return r.may_grow; });
  const Index growing = middle - ranked.begin(), falling = ranked.end() - middle;
  const Index ups = std::min(growing, std::max(count / 2, count - falling));
  const Index lows = std::min(falling, count - ups);
  const auto is_worse = [](const Ranked& a, const Ranked& b) {
    return a.violation != b.violation ? a.violation > b.violation : a.variable < b.variable;
  };
  std::vector<Index> taken;
  const auto take = [&](auto begin, auto end, Index most) {
    if (most < end - begin) std::nth_element(begin, begin + most, end, is_worse);
    for (auto it = begin; it < begin + most; ++it) taken.push_back(it->variable);
  };
  take(ranked.begin(), middle, ups);
  take(middle, ranked.end(), lows);
  std::ranges::sort(taken);
  return taken;
}

// A problem over all variables or some of them, its matrix, and where it is.
class Level {
 public:
  Level(const DualProblem& problem, const ProductMatrix& matrix, SolverState& state)
      : problem_(problem), matrix_(matrix), state_(state) {}

  Ends FindEnds() const { return Slopes(problem_, state_).FindEnds(); }
  std::vector<Ranked> Rank(const Ends& ends) const { return Slopes(problem_, state_).Rank(ends); }
  const DualProblem& problem() const { return problem_; }
  const ProductMatrix& matrix() const { return matrix_; }
  Index size() const { return problem_.size(); }
  Index SupportCount() const {
    return static_cast<Index>(std::ranges::count_if(state_.beta, [](double beta) { return beta != 0; }));
  }

  // Where the variables of a part are.
  SolverState StateOf(std::span<const Index> variables) const {
    SolverState part;
    for (const Index k : variables) {
      part.beta.push_back(state_.beta[Offset(k)]);
      part.gradient.push_back(state_.gradient[Offset(k)]);
    }
    part.gradient_is_valid = true;
    return part;
  }

  // Takes over what a part found: one product. False: nothing moved.
  bool Move(std::span<const Index> variables, std::span<const double> beta) {
    std::vector<double> change(Offset(size()), 0.0), products(change.size());
    bool moves = false;
    for (std::size_t k = 0; k < variables.size(); ++k) {
      const std::size_t at = Offset(variables[k]);
      change[at] = beta[k] - state_.beta[at];
      moves = moves || change[at] != 0;
      state_.beta[at] = beta[k];
    }
    if (!moves) return false;
    matrix_.Multiply(change, products);
    for (std::size_t k = 0; k < products.size(); ++k) {
      state_.gradient[k] += products[k];
      if (!problem_.curvature.empty()) state_.gradient[k] += problem_.curvature[k] * change[k];
    }
    return true;
  }

 private:
  const DualProblem& problem_;
  const ProductMatrix& matrix_;
  SolverState& state_;
};

template <class T>
class Nested final : public DualSolver {
 public:
  Nested(const DualProblem& problem, RowSource<T>& source, const SolverOptions& options)
      : problem_(problem), source_(source), options_(options) {}

  void Start(SolverState& state) override {
    state_ = &state;
    matrix_ = nullptr;  // its memory serves the next one
    matrix_ = source_.Products();
    least_violation_ = std::numeric_limits<double>::infinity();
    idle_rounds_ = 0;
  }

  SolverProgress Advance(double tolerance, std::int64_t most_steps) override {
    const std::int64_t first = steps_;
    SolverOutcome outcome = SolverOutcome::kStepLimit;
    Level all(problem_, *matrix_, *state_);
    double violation = 0;
    for (;;) {
      const Ends ends = all.FindEnds();
      violation = ends.violation();
      if (!std::isfinite(violation)) {
        outcome = SolverOutcome::kNotFinite;
      } else if (violation <= tolerance) {
        outcome = SolverOutcome::kConverged;
      } else if (IsStalled(violation)) {
        outcome = SolverOutcome::kStalled;
      } else if (steps_ - first < most_steps) {
        if (Round(all, ends, tolerance)) continue;
        outcome = SolverOutcome::kStalled;
      }
      break;
    }
    state_->gradient_is_valid = outcome != SolverOutcome::kNotFinite;
    return {outcome, steps_ - first, rows_, violation, Objective(problem_, *state_)};
  }

  void CompleteGradient() override {}  // it always is

 private:
  // One active set. False: nothing moved.
  bool Round(Level& all, const Ends& ends, double tolerance) {
    const Index wanted = std::max(kBlocksPerActive * kMostInBlock, kActivePerSupport * all.SupportCount());
    const double target = std::max(kShareOfActive * ends.violation(), kShareOfTolerance * tolerance);
    if (static_cast<double>(wanted) > kMostActive * static_cast<double>(all.size())) {
      return SolveBlocks(all, target, 1);
    }
    const std::vector<Index> active = TakeWorst(all.Rank(ends), wanted);
    const Subproblem sub(problem_, active);
    const DualProblem problem = sub.view();
    SolverState state = all.StateOf(active);
    const std::unique_ptr<ProductMatrix> matrix = matrix_->Part(active, /*multiplies=*/true);
    Level inside(problem, *matrix, state);
    return SolveBlocks(inside, target, kMostBlocks) && all.Move(active, state.beta);
  }

  // Blocks of a level until it violates no more than `target`. False: nothing moved.
  bool SolveBlocks(Level& level, double target, int most) {
    bool moved = false;
    for (int k = 0; k < most; ++k) {
      const Ends ends = level.FindEnds();
      if (!(ends.violation() > target)) break;
      const Index count = level.size() <= kWholeBlock ? level.size() : kMostInBlock;
      const std::vector<Index> block = TakeWorst(level.Rank(ends), count);
      const std::vector<double> beta =
          SolveBlock(level, block, std::max(kShareOfBlock * ends.violation(), target));
      if (!level.Move(block, beta)) break;
      moved = true;
    }
    return moved;
  }

  std::vector<double> SolveBlock(const Level& level, const std::vector<Index>& block, double target) {
    const Subproblem sub(level.problem(), block);
    const std::unique_ptr<ProductMatrix> matrix = level.matrix().Part(block, /*multiplies=*/false);
    PartRows rows(*matrix);
    SolverState state = level.StateOf(block);
    SolverOptions options = options_;
    options.tolerance = kShareOfTolerance * target;
    const SolverResult result = SolveSmo<float>(sub.view(), rows, state, options);
    steps_ += std::max<std::int64_t>(result.steps, 1);
    rows_ += result.rows_computed;
    return std::move(state.beta);
  }

  // Rounds that bring the violation down by nothing have used up the precision there is.
  bool IsStalled(double violation) {
    constexpr int kMostIdleRounds = 30;  // the violation is not monotone
    idle_rounds_ = violation < least_violation_ ? 0 : idle_rounds_ + 1;
    least_violation_ = std::min(least_violation_, violation);
    return idle_rounds_ > kMostIdleRounds;
  }

  const DualProblem& problem_;
  RowSource<T>& source_;
  const SolverOptions& options_;
  std::unique_ptr<ProductMatrix> matrix_;
  SolverState* state_ = nullptr;
  std::int64_t steps_ = 0, rows_ = 0;
  double least_violation_ = 0;
  int idle_rounds_ = 0;
};

}  // namespace

bool ShouldNest(const DualProblem& problem) { return problem.has_sum && problem.size() > kWholeBlock; }

template <class T>
SolverResult SolveNested(const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                         const SolverOptions& options, SolveObserver* observer) {
  return SolveBy<Nested, T>(problem, rows, state, options, observer);
}

template SolverResult SolveNested(const DualProblem&, RowSource<float>&, SolverState&, const SolverOptions&,
                                  SolveObserver*);
template SolverResult SolveNested(const DualProblem&, RowSource<double>&, SolverState&, const SolverOptions&,
                                  SolveObserver*);

}  // namespace kweave
