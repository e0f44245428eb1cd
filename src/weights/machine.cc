#include "weights/machine.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/stopwatch.h"
#include "loss/hinge.h"
#include "qp/smo.h"

namespace kweave {

namespace {

// The learned kernel at one theta, as the solver sees it.
template <class T>
class GramRows : public RowSource<T> {
 public:
  GramRows(Gram& gram, std::span<const double> theta) : gram_(gram), theta_(theta) {}

  Index size() const override { return gram_.left_count(); }
  void Diagonal(std::span<double> out) override { gram_.Diagonal(theta_, out); }
  void Rows(std::span<const Index> rows, T* out, Index stride) override {
    gram_.Rows(theta_, rows, out, stride);
  }
  void Multiply(std::span<const double> beta, std::span<double> out) override {
    gram_.Expand(beta)->Outputs(theta_, out);
  }

 private:
  Gram& gram_;
  std::span<const double> theta_;
};

class StopPoll : public SolveObserver {
 public:
  explicit StopPoll(RunControl& control) : control_(control) {}
  Verdict Observe(SolverPause& pause) override {
    return control_.ShouldStop() ? Verdict::kStop : Verdict::kContinue;
  }

 private:
  RunControl& control_;
};

}  // namespace

Machine::Machine(const LearningProblem& problem, std::size_t row_cache_bytes, RunControl& control)
    : problem_(problem), norm_(problem.norm), control_(control), row_cache_bytes_(row_cache_bytes) {
  const HingeLoss loss;
  for (std::size_t i = 0; i < problem.y.size(); ++i) {
    const Interval box = loss.Feasible(problem.y[i], problem.upper[i]);
    linear_.push_back(-problem.y[i]);
    lower_.push_back(box.lower);
    upper_.push_back(box.upper);
  }
  state_.beta.assign(problem.y.size(), 0.0);
  state_.gradient = linear_;
  state_.gradient_is_valid = true;
}

Machine::~Machine() = default;

void Machine::UseGram(Gram& gram, bool is_float) {
  gram_ = &gram;
  is_float_ = is_float;
  if (expansion_) expansion_ = gram_->Expand(state_.beta);
}

template <class T>
SolverResult Machine::RunSolver(std::span<const double> theta, const SolverOptions& options) {
  GramRows<T> rows(*gram_, theta);
  StopPoll poll(control_);
  return SolveSmo<T>(DualProblem{linear_, lower_, upper_}, rows, state_, options, &poll);
}

Evaluation Machine::Solve(std::span<const double> theta, double tolerance) {
  ScopedSeconds seconds(solve_seconds_);
  if (expansion_) {
    expansion_->Outputs(theta, state_.gradient);
    for (std::size_t i = 0; i < linear_.size(); ++i) state_.gradient[i] += linear_[i];
    state_.gradient_is_valid = true;
  }
  SolverOptions options;
  options.tolerance = tolerance;
  if (row_cache_bytes_ > 0) options.cache_bytes = row_cache_bytes_;
  const SolverResult result =
      is_float_ ? RunSolver<float>(theta, options) : RunSolver<double>(theta, options);
  ++solves_;
  expansion_ = gram_->Expand(state_.beta);
  Evaluation evaluation = Evaluate(theta);
  evaluation.is_precision_used_up =
      result.outcome != SolverOutcome::kConverged && result.outcome != SolverOutcome::kStoppedByObserver;
  return evaluation;
}

Evaluation Machine::Evaluate(std::span<const double> theta) {
  const HingeLoss loss;
  Evaluation result;
  result.theta.assign(theta.begin(), theta.end());
  result.beta = state_.beta;
  result.quadratics.resize(theta.size());
  expansion_->Quadratics(result.quadratics);
  std::vector<double> outputs(state_.beta.size());
  expansion_->Outputs(theta, outputs);
  const double bias = loss.BestBias(outputs, problem_.y, problem_.upper);
  const double quadratic = std::inner_product(theta.begin(), theta.end(), result.quadratics.begin(), 0.0);
  result.primal = 0.5 * quadratic;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    result.linear += loss.Dual(state_.beta[i], problem_.y[i], problem_.upper[i]);
    result.primal += problem_.upper[i] * loss.Value(outputs[i] + bias, problem_.y[i]);
  }
  result.inner_dual = result.linear - 0.5 * quadratic;
  result.dual = result.linear - 0.5 * norm_.Dual(result.quadratics);
  return result;
}

}  // namespace kweave
