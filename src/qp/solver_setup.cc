#include "qp/solver_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "compute/cpu/smo_loops.h"
#include "kweave/error.h"

namespace kweave {

namespace {

void Require(bool holds, const std::string& sentence) {
  if (!holds) throw Error(ErrorKind::kUsage, sentence);
}

void ValidateTerm(std::string_view name, std::span<const double> values, std::size_t size) {
  Require(values.empty() || values.size() == size,
          fmt::format("The dual problem has {} variables, but {} values of {}.", size, values.size(), name));
  const bool is_valid =
      std::all_of(values.begin(), values.end(), [](double v) { return v >= 0 && v < HUGE_VAL; });
  Require(is_valid, fmt::format("A value of {} is negative or not finite.", name));
}

// A solver between two batches of steps.
class SolverRun final : private SolverPause {
 public:
  SolverRun(DualSolver& solver, const DualProblem& problem, SolverState& state, const SolverOptions& options,
            SolveObserver* observer)
      : solver_(solver),
        problem_(problem),
        state_(state),
        observer_(observer),
        tolerance_(options.tolerance),
        most_steps_(MostSteps(problem, options)),
        steps_between_looks_(std::max<std::int64_t>(options.observe_every, 1)),
        next_look_(options.observe_every) {}

  SolverResult Run() {
    solver_.Start(state_);
    for (;;) {
      const std::int64_t pause = observer_ != nullptr ? std::min(most_steps_, next_look_) : most_steps_;
      now_ = solver_.Advance(tolerance_, std::max<std::int64_t>(pause - steps_, 0));
      steps_ += now_.steps;
      if (now_.outcome == SolverOutcome::kConverged) {
        if (!Proceeds(AskAtTolerance(observer_, *this, tolerance_))) return Finish(SolverOutcome::kConverged);
      } else if (now_.outcome != SolverOutcome::kStepLimit || steps_ >= most_steps_) {
        return Finish(now_.outcome);
      } else if (observer_ == nullptr || steps_ < next_look_) {
        return Finish(SolverOutcome::kStalled);  // it took fewer steps than it might have
      } else {
        next_look_ = steps_ + steps_between_looks_;
        if (!Proceeds(observer_->Observe(*this))) return Finish(SolverOutcome::kStoppedByObserver);
      }
    }
  }

 private:
  bool Proceeds(SolveObserver::Verdict verdict) {
    if (verdict == SolveObserver::Verdict::kMatrixChanged) solver_.Start(state_);
    return verdict != SolveObserver::Verdict::kStop;
  }

  SolverResult Finish(SolverOutcome outcome) {
    if (outcome == SolverOutcome::kNotFinite) {
      return {outcome, steps_, now_.rows_computed, now_.violation, now_.objective};
    }
    solver_.CompleteGradient();
    return {outcome, steps_, now_.rows_computed, Violation(problem_, state_), Objective(problem_, state_)};
  }

  // SolverPause.
  std::int64_t steps() const override { return steps_; }
  double violation() const override { return now_.violation; }
  double objective() const override { return now_.objective; }
  std::span<const double> Beta() override { return state_.beta; }
  std::span<double> Gradient() override {
    if (!state_.gradient_is_valid) solver_.CompleteGradient();
    return state_.gradient;
  }

  DualSolver& solver_;
  const DualProblem& problem_;
  SolverState& state_;
  SolveObserver* observer_;
  double tolerance_;  // until the observer asks for less
  const std::int64_t most_steps_;
  const std::int64_t steps_between_looks_;
  std::int64_t next_look_;
  std::int64_t steps_ = 0;
  SolverProgress now_;
};

}  // namespace

void ValidateSolve(const DualProblem& problem, Index rows, const SolverState& state,
                   const SolverOptions& options) {
  const std::size_t size = problem.linear.size();
  Require(
      problem.lower.size() == size && problem.upper.size() == size && state.beta.size() == size &&
          rows == problem.size() && (!state.gradient_is_valid || state.gradient.size() == size),
      fmt::format("The dual problem has {} variables; its bounds, start and rows must have as many.", size));
  Require(size <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
          fmt::format("The dual problem has {} variables; at most 2^31 - 1 are supported.", size));
  Require(options.tolerance >= 0,
          fmt::format("tolerance is {}; it must not be negative.", options.tolerance));
  Require(options.rows_per_batch >= 1,
          fmt::format("rows_per_batch is {}; it must be at least 1.", options.rows_per_batch));
  ValidateTerm("kink", problem.kink, size);
  ValidateTerm("curvature", problem.curvature, size);
  for (std::size_t k = 0; k < size; ++k) {
    if (problem.lower[k] <= state.beta[k] && state.beta[k] <= problem.upper[k]) continue;
    throw Error(ErrorKind::kUsage, fmt::format("The start of variable {} is {}, outside its bounds [{}, {}].",
                                               k, state.beta[k], problem.lower[k], problem.upper[k]));
  }
}

std::int64_t MostSteps(const DualProblem& problem, const SolverOptions& options) {
  return options.max_steps > 0 ? options.max_steps : std::max<std::int64_t>(10'000'000, 100 * problem.size());
}

template <class T>
void CompleteGradient(const DualProblem& problem, RowSource<T>& rows, SolverState& state) {
  if (state.gradient_is_valid) return;
  state.gradient.assign(state.beta.size(), 0.0);
  const bool is_zero = std::all_of(state.beta.begin(), state.beta.end(), [](double b) { return b == 0; });
  if (!is_zero) rows.Multiply(state.beta, state.gradient);
  for (std::size_t k = 0; k < state.gradient.size(); ++k) {
    state.gradient[k] += problem.linear[k];
    if (!problem.curvature.empty()) state.gradient[k] += problem.curvature[k] * state.beta[k];
  }
  state.gradient_is_valid = true;
}

template <class T>
bool FillDiagonal(const DualProblem& problem, RowSource<T>& rows, const SolverState& state,
                  std::vector<double>& diagonal) {
  rows.Diagonal(diagonal);
  for (std::size_t k = 0; k < problem.curvature.size(); ++k) diagonal[k] += problem.curvature[k];
  return AllFinite(diagonal.data(), problem.size()) && AllFinite(state.gradient.data(), problem.size());
}

double Objective(const DualProblem& problem, const SolverState& state) {
  double sum = 0;
  for (std::size_t k = 0; k < state.beta.size(); ++k) {
    if (state.beta[k] == 0) continue;
    sum += 0.5 * state.beta[k] * (state.gradient[k] + problem.linear[k]);
    if (!problem.kink.empty()) sum += problem.kink[k] * std::abs(state.beta[k]);
  }
  return sum;
}

double Violation(const DualProblem& problem, const SolverState& state) {
  double min_up = std::numeric_limits<double>::infinity(), max_low = -min_up;
  for (std::size_t k = 0; k < state.beta.size(); ++k) {
    const double beta = state.beta[k], kink = problem.kink.empty() ? 0 : problem.kink[k];
    if (beta < problem.upper[k]) min_up = std::min(min_up, state.gradient[k] + (beta >= 0 ? kink : -kink));
    if (beta > problem.lower[k]) max_low = std::max(max_low, state.gradient[k] + (beta > 0 ? kink : -kink));
  }
  return std::max(max_low - min_up, 0.0);
}

SolverResult RunSolver(DualSolver& solver, const DualProblem& problem, SolverState& state,
                       const SolverOptions& options, SolveObserver* observer) {
  return SolverRun(solver, problem, state, options, observer).Run();
}

template void CompleteGradient(const DualProblem&, RowSource<float>&, SolverState&);
template void CompleteGradient(const DualProblem&, RowSource<double>&, SolverState&);
template bool FillDiagonal(const DualProblem&, RowSource<float>&, const SolverState&, std::vector<double>&);
template bool FillDiagonal(const DualProblem&, RowSource<double>&, const SolverState&, std::vector<double>&);

}  // namespace kweave
