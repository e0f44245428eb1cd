#include "weights/machine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/stopwatch.h"
#include "qp/newton.h"
#include "qp/solve.h"
#include "weights/gram_rows.h"

namespace kweave {

namespace {

constexpr double kTiny = std::numeric_limits<double>::min();
constexpr double kLeastTolerance = 1e-13;
constexpr double kMostTolerance = 0.5;

// The learned kernel, keeping the expansion of the last vector it multiplied: `at` says which.
class ExpandingRows final : public GramRows<float> {
 public:
  ExpandingRows(Gram& gram, std::span<const double> theta, std::unique_ptr<Expansion>& expansion,
                std::vector<double>& at)
      : GramRows(gram, theta), gram_(gram), theta_(theta), expansion_(expansion), at_(at) {}

  void Multiply(std::span<const double> beta, std::span<double> out) override {
    if (expansion_) {
      gram_.Update(*expansion_, beta);
    } else {
      expansion_ = gram_.Expand(beta);
    }
    at_.assign(beta.begin(), beta.end());
    expansion_->Outputs(theta_, out);
  }

 private:
  Gram& gram_;
  std::span<const double> theta_;
  std::unique_ptr<Expansion>& expansion_;
  std::vector<double>& at_;
};

struct InnerBounds {
  double primal = 0;
  double dual = 0;
  double relative_gap() const { return (primal - dual) / std::max(std::abs(primal), kTiny); }
};

// The bounds on J(theta) that beta gives with its outputs f, which may be off by a common constant.
InnerBounds Bounds(const Risk& risk, std::span<const double> beta, std::span<const double> f) {
  const double quadratic = std::inner_product(f.begin(), f.end(), beta.begin(), 0.0);
  return {0.5 * quadratic + risk.Value(f, risk.BestBias(f)), risk.Dual(beta) - 0.5 * quadratic};
}

// Lowers the tolerance until the gap is reached; ends the solve when the run must end.
class GapWatch : public SolveObserver {
 public:
  GapWatch(const Risk& risk, const DualTerms& terms, double wanted, RunControl& control)
      : risk_(risk), terms_(terms), wanted_(wanted), control_(control) {}

  Verdict Observe(SolverPause& pause) override {
    control_.Tick();
    return control_.ShouldStop() ? Verdict::kStop : Verdict::kContinue;
  }

  double NextTolerance(SolverPause& pause, double tolerance) override {
    std::vector<double> f(pause.Gradient().begin(), pause.Gradient().end());
    terms_.GradientToOutputs(pause.Beta(), f);
    gap_ = Bounds(risk_, pause.Beta(), f).relative_gap();
    // The gap falls about linearly with the tolerance.
    if (!(gap_ > wanted_) || control_.ShouldStop()) return tolerance;
    const double next = tolerance * std::clamp(0.7 * wanted_ / gap_, 0.03, 0.5);
    return next < kLeastTolerance ? tolerance : next;
  }

 private:
  const Risk& risk_;
  const DualTerms& terms_;
  const double wanted_;
  RunControl& control_;
  double gap_ = 0;
};

}  // namespace

Machine::Machine(const LearningProblem& problem, const LearnOptions& options, RunControl& control)
    : problem_(problem), norm_(problem.norm), control_(control), options_(options), terms_(problem.risk) {
  state_.beta = problem.risk.FeasibleStart();
}

Machine::~Machine() = default;

void Machine::UseGram(Gram& gram, bool is_float) {
  gram_ = &gram;
  is_float_ = is_float;
  if (expansion_) expansion_ = gram_->Expand(state_.beta);
}

void Machine::StartFrom(std::span<const double> beta) {
  state_.beta.assign(beta.begin(), beta.end());
  problem_.risk.MakeFeasible(state_.beta);
  expansion_ = gram_->Expand(state_.beta);
}

template <class T>
SolverResult Machine::RunSolver(std::span<const double> theta, const SolverOptions& options,
                                SolveObserver& observer) {
  GramRows<T> rows(*gram_, theta);
  const SolverKind kind = ChooseSolver<T>(options_.solver, terms_.problem(), options);
  solver_ = SolverName(kind);
  return SolveDual<T>(kind, terms_.problem(), rows, state_, options, &observer);
}

SolverResult Machine::RunNewton(std::span<const double> theta, double relative_gap, SolveObserver& observer) {
  solver_ = "newton";
  NewtonOptions options;
  options.relative_gap = relative_gap;
  if (options_.row_cache_bytes > 0) options.memory_bytes = options_.row_cache_bytes;
  std::vector<double> expanded = state_.beta;
  ExpandingRows rows(*gram_, theta, expansion_, expanded);
  const SolverResult result = SolveNewton(problem_.risk, rows, state_, preconditioner_, options, &observer);
  if (expanded != state_.beta) gram_->Update(*expansion_, state_.beta);
  return result;
}

void Machine::Expand() {
  if (expansion_) {
    gram_->Update(*expansion_, state_.beta);
  } else {
    expansion_ = gram_->Expand(state_.beta);
  }
}

Evaluation Machine::Solve(std::span<const double> theta, double relative_gap) {
  ScopedSeconds seconds(solve_seconds_);
  const bool is_smooth = problem_.risk.loss->smooth() != nullptr;
  if (expansion_) {
    expansion_->Outputs(theta, state_.gradient);
    if (!is_smooth) terms_.OutputsToGradient(state_.beta, state_.gradient);
    state_.gradient_is_valid = true;
  }
  SolverOptions options;
  options.tolerance = std::clamp(relative_gap * tolerance_per_gap_, kLeastTolerance, kMostTolerance);
  if (options_.row_cache_bytes > 0) options.cache_bytes = options_.row_cache_bytes;
  options.pool = options_.pool;
  GapWatch watch(problem_.risk, terms_, relative_gap, control_);
  SolverResult result;
  if (is_smooth) {
    result = RunNewton(theta, relative_gap, watch);
  } else {
    result = is_float_ ? RunSolver<float>(theta, options, watch) : RunSolver<double>(theta, options, watch);
    Expand();
  }
  ++solves_;
  Evaluation evaluation = Evaluate(theta);
  const double reached = evaluation.inner_gap() / std::max(std::abs(evaluation.primal), kTiny);
  const bool was_stopped = result.outcome == SolverOutcome::kStoppedByObserver;
  evaluation.is_precision_used_up = !was_stopped && !(reached <= 1.5 * relative_gap);
  if (!was_stopped && reached > 0 && result.violation > 0) {
    tolerance_per_gap_ = std::clamp(result.violation / reached, 1e-3, 1e6);
  }
  return evaluation;
}

Evaluation Machine::Evaluate(std::span<const double> theta) {
  Evaluation result;
  result.theta.assign(theta.begin(), theta.end());
  result.beta = state_.beta;
  result.quadratics.resize(theta.size());
  expansion_->Quadratics(result.quadratics);
  std::vector<double> outputs(state_.beta.size());
  expansion_->Outputs(theta, outputs);
  const InnerBounds bounds = Bounds(problem_.risk, state_.beta, outputs);
  result.primal = bounds.primal;
  result.inner_dual = bounds.dual;
  result.linear = problem_.risk.Dual(state_.beta);
  result.dual = result.linear - 0.5 * norm_.Dual(result.quadratics);
  return result;
}

}  // namespace kweave
