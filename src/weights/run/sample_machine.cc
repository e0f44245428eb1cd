#include "weights/run/sample_machine.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/dot.h"
#include "base/stopwatch.h"
#include "kweave/error.h"
#include "qp/dense.h"
#include "qp/linear.h"
#include "qp/nested_sets.h"
#include "qp/newton.h"
#include "qp/solve.h"
#include "weights/run/gram_rows.h"

namespace kweave {

namespace {

// Violations, relative to the unit of outputs: float64 resolves no less, and above half a margin a machine
// says nothing.
constexpr double kLeastTolerance = 1e-13, kMostTolerance = 0.5;
// The gap falls about linearly with the tolerance: it aims at this share of the gap wanted, and changes by
// factors within these.
constexpr double kAimOfTolerance = 0.7, kLeastFactor = 0.03, kMostFactor = 0.5;
// Violation over relative gap, as seen: keeps one odd solve from spoiling the next.
constexpr double kLeastPerGap = 1e-3, kMostPerGap = 1e6;
// So many short rows are one piece of work that is worth sharing among threads.
constexpr Index kFewSamples = 512, kRowsOfFewSamples = 64;
// Solving on features pays while they have at most one entry to so many pairs of samples.
constexpr double kEntriesPerPair = 4;
// Outputs that the solver kept are as good as new ones down to this relative gap.
constexpr double kLeastGapOfKeptOutputs = 1e-4;
constexpr double kShareOfExpansion =
    0.5;  // that quadratics alone may cost: the expansion may be needed after all

// A step on a pair takes some n operations, the second-order solver some 10 n^3 in all: after as many steps,
// and ten times more where those are next to nothing, it is the better bet.
std::int64_t StepsBeforeDense(Index n) { return 100'000 + 10 * n * n; }
constexpr std::int64_t kFewerSteps = 10;  // once it was
// Newton steps, each of up to hundreds of products with the matrix, take some ten where they get anywhere.
constexpr std::int64_t kNewtonStepsBeforeDense = 30;

// Rows whose means say whether the samples are centred, and what rounding in single precision makes of a mean
// of 0, relative to the diagonal.
constexpr Index kRowsThatTell = 16;
constexpr double kCentredMean = 1e-6;

// The learned kernel, keeping the expansion of the last vector it multiplied.
class ExpandingRows final : public GramRows<float> {
 public:
  ExpandingRows(Gram& gram, std::span<const double> theta, std::unique_ptr<MovableExpansion>& expansion)
      : GramRows(gram, theta), gram_(gram), theta_(theta), expansion_(expansion) {}

  void Multiply(std::span<const double> beta, std::span<double> out) override {
    ExpandInto(gram_, beta, expansion_);
    expansion_->Outputs(theta_, out);
  }

 private:
  Gram& gram_;
  std::span<const double> theta_;
  std::unique_ptr<MovableExpansion>& expansion_;
};

}  // namespace

SampleMachine::SampleMachine(const LearningProblem& problem, const LearnOptions& options, RunControl& control)
    : problem_(problem),
      control_(control),
      options_(options),
      terms_(problem.risk),
      output_unit_(problem.risk.OutputUnit() > 0 ? problem.risk.OutputUnit() : 1) {
  state_.beta = problem.risk.FeasibleStart();
}

SampleMachine::~SampleMachine() = default;

// Lowers the tolerance until the gap is reached, then lets theta move; ends the solve when the run must end.
class SampleMachine::Watch : public SolveObserver {
 public:
  Watch(SampleMachine& machine, double wanted, ThetaMover* mover)
      : machine_(machine), wanted_(wanted), mover_(mover) {}

  double wanted() const { return wanted_; }

  Verdict Observe(SolverPause& pause) override {
    machine_.control_.Tick();
    NoteSupport(pause);
    return machine_.control_.ShouldStop() ? Verdict::kStop : Verdict::kContinue;
  }

  Verdict OnTolerance(SolverPause& pause, double& tolerance) override {
    NoteSupport(pause);
    if (machine_.control_.ShouldStop()) return Verdict::kStop;
    std::vector<double> f(pause.Gradient().begin(), pause.Gradient().end());
    machine_.terms_.GradientToOutputs(pause.Beta(), f);
    const double gap = machine_.problem_.risk.BoundsAt(pause.Beta(), f).relative_gap();
    machine_.NoteTolerance(tolerance, gap);
    if (!(gap > wanted_)) return Move(pause, tolerance);
    const double next = tolerance * std::clamp(kAimOfTolerance * wanted_ / gap, kLeastFactor, kMostFactor);
    if (next < kLeastTolerance * machine_.output_unit_) return Verdict::kStop;
    tolerance = next;
    return Verdict::kContinue;
  }

 private:
  // Parts of the samples, which nothing certifies, cost no time afterwards.
  void NoteSupport(SolverPause& pause) {
    RunControl& control = machine_.control_;
    if (!control.has_time_limit() || !machine_.options_.certifies) return;
    control.NoteSupport(std::ranges::count_if(pause.Beta(), [](double beta) { return beta != 0; }));
  }

  Verdict Move(SolverPause& pause, double& tolerance) {
    if (mover_ == nullptr) return Verdict::kStop;
    const Evaluation at = machine_.Evaluate(pause.Beta());
    const std::optional<double> wanted = mover_->MoveInside(at, machine_.theta_);
    if (!wanted) return Verdict::kStop;
    wanted_ = *wanted;
    tolerance = machine_.ToleranceFor(wanted_);
    machine_.expansion_->Outputs(machine_.theta_, pause.Gradient());
    machine_.terms_.OutputsToGradient(pause.Beta(), pause.Gradient());
    return Verdict::kMatrixChanged;
  }

  SampleMachine& machine_;
  double wanted_;  // relative gap
  ThetaMover* mover_;
};

void SampleMachine::UseGram(Gram& gram, bool is_float) {
  gram_ = &gram;
  is_float_ = is_float;
  outputs_.clear();
  may_be_centred_ = problem_.risk.bias_slope != 0;
  most_steps_ = StepsBeforeDense(gram.left_count());
  may_use_features_ = options_.solver == SolverKind::kAuto || options_.solver == SolverKind::kLinear;
  // Nothing follows from beta = 0.
  const bool is_zero = std::all_of(state_.beta.begin(), state_.beta.end(), [](double b) { return b == 0; });
  expansion_ = is_zero ? nullptr : gram_->Expand(state_.beta);
  expanded_ = state_.beta;
  is_behind_ = false;
}

void SampleMachine::StartFrom(std::span<const double> beta, std::span<const double> outputs) {
  state_.beta.assign(beta.begin(), beta.end());
  problem_.risk.MakeFeasible(state_.beta);
  const bool are_known = !outputs.empty() && std::ranges::equal(beta, state_.beta);
  outputs_.assign(outputs.begin(), are_known ? outputs.end() : outputs.begin());
  expansion_ = are_known ? nullptr : gram_->Expand(state_.beta);
  expanded_ = state_.beta;
  is_behind_ = false;
}

// The outputs of beta at the present theta go where solvers look for them, if they are known.
void SampleMachine::TakeOutputs() {
  if (is_behind_) expansion();
  state_.gradient_is_valid = expansion_ || !outputs_.empty();
  state_.gradient = std::exchange(outputs_, {});
  state_.gradient.resize(state_.beta.size());
  if (expansion_) expansion_->Outputs(theta_, state_.gradient);
}

template <class T>
SolverResult SampleMachine::RunSolver(const SolverOptions& options, SolveObserver& observer) {
  GramRows<T> rows(*gram_, theta_);
  if (options_.solver == SolverKind::kAuto && ShouldNest(terms_.problem()) && rows.Products()) {
    work_.solver = "nested";
    return SolveNested<T>(terms_.problem(), rows, state_, options, &observer);
  }
  const SolverKind kind = ChooseSolver<T>(options_.solver, terms_.problem(), options);
  work_.solver = ToString(kind);
  return SolveDual<T>(kind, terms_.problem(), rows, state_, options, &observer);
}

SolverResult SampleMachine::RunNewton(double relative_gap, SolveObserver& observer) {
  work_.solver = "newton";
  TakeOutputs();
  NewtonOptions options;
  options.relative_gap = relative_gap;
  if (options_.row_cache_bytes > 0) options.memory_bytes = options_.row_cache_bytes;
  options.seed = control_.seed();
  if (MayBeDense()) options.max_steps = kNewtonStepsBeforeDense;
  ExpandingRows rows(*gram_, theta_, expansion_);
  return SolveNewton(problem_.risk, rows, state_, preconditioner_, options, &observer);
}

SolverResult SampleMachine::RunLinear(const FeatureMatrix& features, double relative_gap,
                                      SolveObserver& observer) {
  work_.solver = ToString(SolverKind::kLinear);
  LinearOptions options;
  options.relative_gap = relative_gap;
  options.pool = options_.pool;
  return SolveLinear(problem_.risk, terms_.problem(), features, state_, sigma_, options, &observer);
}

// The features at the present theta, when the kernels are linear and solving on features pays; else null, now
// and for all other theta.
std::unique_ptr<FeatureMatrix> SampleMachine::FindFeatures() {
  if (!may_use_features_) return nullptr;
  std::unique_ptr<FeatureMatrix> features = gram_->Learn(theta_)->Features();
  const bool is_asked_for = options_.solver == SolverKind::kLinear;
  if (!features && is_asked_for) {
    throw Error(ErrorKind::kUsage,
                "solver 'linear' needs linear kernels, normalised by factors; others are among these.");
  }
  const double pairs = static_cast<double>(gram_->left_count()) * static_cast<double>(gram_->left_count());
  // Weights that are not minimised over spread so far apart that steps by pairs of samples would crawl.
  const bool is_spread = !problem_.regularizer->is_minimized();
  may_use_features_ = features && (is_asked_for || is_spread ||
                                   kEntriesPerPair * static_cast<double>(features->entries()) <= pairs);
  return may_use_features_ ? std::move(features) : nullptr;
}

// Whether the mean of all samples is the origin, as with centred kernels, as far as some rows tell.
bool SampleMachine::IsCentred() const {
  const Index n = gram_->left_count();
  const std::shared_ptr<const LearnedMatrix> learned = gram_->Learn(theta_);
  std::vector<Index> some;
  for (Index k = 0; k < std::min(n, kRowsThatTell); ++k) some.push_back(k * n / std::min(n, kRowsThatTell));
  std::vector<double> rows(some.size() * static_cast<std::size_t>(n));
  learned->Rows(some, rows.data(), n);
  for (std::size_t k = 0; k < some.size(); ++k) {
    const auto row = std::span(rows).subspan(k * static_cast<std::size_t>(n), static_cast<std::size_t>(n));
    const double mean =
        learned->shift() + std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(n);
    if (!(std::abs(mean) <= kCentredMean * (row[static_cast<std::size_t>(some[k])] + learned->shift())))
      return false;
  }
  return true;
}

// Where the samples of one class are centred no plane parts them from the origin, and their mean says so at
// once: steps on pairs would crawl. Single precision cannot tell what is left from 0, and need not try.
std::optional<Evaluation> SampleMachine::SolveByMean(double relative_gap) {
  may_be_centred_ = may_be_centred_ && IsCentred();
  if (!may_be_centred_) return {};
  StartFrom(std::vector<double>(state_.beta.size(), 1 / static_cast<double>(state_.beta.size())));
  Evaluation evaluation = Evaluate(state_.beta);
  evaluation.is_precision_used_up = !(evaluation.relative_inner_gap() <= kWantedSlack * relative_gap);
  may_be_centred_ = is_float_ || !evaluation.is_precision_used_up;
  if (!may_be_centred_) return {};
  return evaluation;
}

Evaluation SampleMachine::Solve(std::span<const double> theta, double relative_gap, ThetaMover* mover) {
  ScopedSeconds seconds(work_.seconds);
  theta_.assign(theta.begin(), theta.end());
  ++work_.solves;
  if (std::optional<Evaluation> mean = SolveByMean(relative_gap)) return *std::move(mean);
  std::unique_ptr<FeatureMatrix> features = FindFeatures();
  const bool is_smooth = problem_.risk.loss->smooth() != nullptr;
  return features || is_smooth ? SolveInTurn(std::move(features), relative_gap, mover)
                               : SolveOnRows(relative_gap, mover);
}

Evaluation SampleMachine::SolveOnRows(double relative_gap, ThetaMover* mover) {
  TakeOutputs();
  if (state_.gradient_is_valid) terms_.OutputsToGradient(state_.beta, state_.gradient);
  SolverOptions options;
  options.tolerance = ToleranceFor(relative_gap);
  options.pool = options_.pool;
  options.reserve = options_.reserve != nullptr ? options_.reserve : &reserve_;
  if (gram_->left_count() <= kFewSamples) options.rows_per_batch = kRowsOfFewSamples;
  if (gram_->left_count() <= kMostDenseSamples) options.max_steps = most_steps_;
  if (options_.row_cache_bytes > 0) options.cache_bytes = options_.row_cache_bytes;
  Watch watch(*this, relative_gap, mover);
  const SolverResult result =
      is_float_ ? RunSolver<float>(options, watch) : RunSolver<double>(options, watch);
  Evaluation evaluation = EvaluateSolved(watch.wanted());
  const double reached = evaluation.relative_inner_gap();
  const bool was_stopped = result.outcome == SolverOutcome::kStoppedByObserver;
  evaluation.is_precision_used_up = !was_stopped && !(reached <= kWantedSlack * watch.wanted());
  if (!was_stopped) NoteTolerance(result.violation, reached);
  if (evaluation.is_precision_used_up) SolveDense(watch.wanted(), evaluation);
  return evaluation;
}

// These solvers start anew with every theta, from the beta and what else they have.
Evaluation SampleMachine::SolveInTurn(std::unique_ptr<FeatureMatrix> features, double relative_gap,
                                      ThetaMover* mover) {
  for (;;) {
    Watch watch(*this, relative_gap, nullptr);
    const SolverResult result =
        features ? RunLinear(*features, relative_gap, watch) : RunNewton(relative_gap, watch);
    Evaluation evaluation = Evaluate(state_.beta);
    const bool was_stopped = result.outcome == SolverOutcome::kStoppedByObserver;
    evaluation.is_precision_used_up =
        !was_stopped && !(evaluation.relative_inner_gap() <= kWantedSlack * relative_gap);
    if (evaluation.is_precision_used_up) SolveDense(relative_gap, evaluation);
    if (was_stopped || mover == nullptr) return evaluation;
    const std::optional<double> wanted = mover->MoveInside(evaluation, theta_);
    if (!wanted) return evaluation;
    relative_gap = *wanted;
    features = FindFeatures();
  }
}

// Single precision has better answers ahead, so that it only gets what costs next to nothing.
bool SampleMachine::MayBeDense() const {
  return gram_->left_count() <= (is_float_ ? kFewSamples / 2 : kMostDenseSamples);
}

// Where the other solvers got nowhere and there are few samples: the whole matrix at once, in double
// precision.
void SampleMachine::SolveDense(double relative_gap, Evaluation& evaluation) {
  if (!MayBeDense()) return;
  const Index n = gram_->left_count();
  const Risk& risk = problem_.risk;
  std::vector<double> rows(static_cast<std::size_t>(n * n));
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  const std::shared_ptr<const LearnedMatrix> learned = gram_->Learn(theta_);
  learned->Rows(all, rows.data(), n);
  const DenseMatrix K =
      MakeDenseMatrix(std::move(rows), n, learned->shift(), risk.has_bias && risk.bias_slope == 0);
  const auto proceed = [&] { return !control_.ShouldStop(); };
  const double reached = kweave::SolveDense(risk, K, relative_gap, state_.beta, proceed);
  if (!(reached < evaluation.relative_inner_gap())) return;
  work_.solver = "dense";
  most_steps_ = std::max(most_steps_ / kFewerSteps, n);  // pairs will hardly do better at the next theta
  evaluation = Evaluate(state_.beta);
  evaluation.is_precision_used_up = !(evaluation.relative_inner_gap() <= kWantedSlack * relative_gap);
}

double SampleMachine::ToleranceFor(double relative_gap) const {
  return output_unit_ * std::clamp(relative_gap * tolerance_per_gap_, kLeastTolerance, kMostTolerance);
}

void SampleMachine::NoteTolerance(double violation, double relative_gap) {
  if (relative_gap > 0 && violation > 0)
    tolerance_per_gap_ = std::clamp(violation / output_unit_ / relative_gap, kLeastPerGap, kMostPerGap);
}

const Expansion& SampleMachine::expansion() const {
  if (is_behind_) {
    ExpandInto(*gram_, state_.beta, expansion_);
    expanded_ = state_.beta;
    is_behind_ = false;
  }
  return *expansion_;
}

Evaluation SampleMachine::Evaluate(std::span<const double> beta) {
  ExpandInto(*gram_, beta, expansion_);
  expanded_.assign(beta.begin(), beta.end());
  is_behind_ = false;
  std::vector<double> q(theta_.size()), outputs(beta.size());
  expansion_->Quadratics(q);
  expansion_->Outputs(theta_, outputs);
  return Judge(beta, outputs, std::move(q));
}

// Quadratics alone need the pairs of support samples, each once; an expansion all pairs of a sample that
// changed and any other.
bool SampleMachine::ShouldPutOffExpansion(double relative_gap) const {
  if (!state_.gradient_is_valid || relative_gap < kLeastGapOfKeptOutputs ||
      !problem_.regularizer->is_minimized()) {
    return false;
  }
  double changes = 0, entries = 0;
  for (std::size_t i = 0; i < state_.beta.size(); ++i) {
    entries += state_.beta[i] != 0;
    changes += !expansion_ ? state_.beta[i] != 0 : state_.beta[i] != expanded_[i];
  }
  const double pairs = std::min(changes, entries) * static_cast<double>(state_.beta.size());
  return 0.5 * entries * entries < kShareOfExpansion * pairs;
}

// The solver has the outputs.
Evaluation SampleMachine::EvaluateSolved(double relative_gap) {
  if (!ShouldPutOffExpansion(relative_gap) || !gram_->shape().has_cheap_quadratics) {
    return Evaluate(state_.beta);
  }
  is_behind_ = true;
  std::vector<double> outputs = state_.gradient;
  terms_.GradientToOutputs(state_.beta, outputs);
  return Judge(state_.beta, outputs, gram_->Answer({.a = state_.beta}).quadratics);
}

Evaluation SampleMachine::Judge(std::span<const double> beta, std::span<const double> outputs,
                                std::vector<double> q) {
  Evaluation result;
  result.theta = theta_;
  result.beta.assign(beta.begin(), beta.end());
  result.quadratics = std::move(q);
  const MachineBounds bounds = problem_.risk.BoundsAt(beta, outputs);
  const Regularizer& regularizer = *problem_.regularizer;
  const double added = regularizer.Primal(theta_, result.quadratics) - 0.5 * Dot(theta_, result.quadratics);
  result.least_size = bounds.least_size;
  result.primal = bounds.primal + added;
  result.inner_dual = bounds.dual + added;
  if (!regularizer.is_minimized()) ShortenParts(result);
  result.linear = problem_.risk.Dual(beta);
  result.dual = LowerBound(regularizer, result.linear, result.quadratics, problem_.risk.bias_slope == 0);
  return result;
}

// The same beta with less weight on parts that are too long, where that is the better answer.
void SampleMachine::ShortenParts(Evaluation& at) const {
  std::vector<double> theta = at.theta, outputs(at.beta.size());
  if (!problem_.regularizer->Shorten(at.quadratics, theta)) return;
  expansion_->Outputs(theta, outputs);
  const Risk& risk = problem_.risk;
  const double primal =
      problem_.regularizer->Primal(theta, at.quadratics) + risk.Value(outputs, risk.BestBias(outputs));
  if (!(primal < at.primal)) return;
  at.inner_dual -= at.primal - primal;  // the inner gap is that of the solve
  at.primal = primal;
  at.theta = std::move(theta);
}

Certificate SampleMachine::Certify(Gram& gram, std::span<const double> theta, std::span<const double> beta,
                                   std::span<const double> dual_beta) const {
  return kweave::Certify(gram, problem_.risk, *problem_.regularizer, theta, beta, dual_beta);
}

}  // namespace kweave
