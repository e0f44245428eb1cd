#include "weights/run/joint_machine.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/dot.h"
#include "base/stopwatch.h"
#include "certificate/joint_certificate.h"
#include "qp/joint_dense.h"
#include "weights/run/gram_rows.h"

namespace kweave {

namespace {

// A guard on steps that crawl: some seconds for hundreds of pairs of sample and class, which mostly end
// in hundredths of a second; a minute or two for the 130,000 pairs of 5,000 letters, which end in seconds.
constexpr std::int64_t kMostSteps = 200'000, kMostStepsPerPair = 200;
constexpr std::int64_t kFewerSteps = 10;  // after a solve that reached it: the next one will hardly do better

// A step takes some microseconds, the second-order solver some 10 N^3 operations: after this many steps it is
// the better bet.
std::int64_t StepsBeforeDense(Index pairs) { return 20'000 + pairs * pairs / 4; }
// Single precision has better answers ahead, so that it only gets what costs hundredths of a second.
constexpr Index kMostFloatPairs = 200;
// Where digits are what lacks, the next theta hardly has more of them.
constexpr int kMostDenseFailures = 3;

Index FreePairs(const JointRisk& risk) { return risk.samples() * (risk.classes - 1); }

}  // namespace

JointMachine::JointMachine(const JointLearningProblem& problem, const LearnOptions& options,
                           RunControl& control)
    : problem_(problem), options_(options), control_(control) {
  state_.beta = FeasibleStart();
  work_.solver = "joint";
}

std::vector<double> JointMachine::FeasibleStart() const {
  return std::vector<double>(static_cast<std::size_t>(problem_.risk.samples() * problem_.risk.classes), 0.0);
}

void JointMachine::UseGram(Gram& gram, bool is_float) {
  gram_ = &dynamic_cast<JointGram&>(gram);
  is_float_ = is_float;
  dense_failures_ = 0;
  const Index pairs = FreePairs(problem_.risk);
  most_steps_ = pairs <= (is_float ? kMostFloatPairs : kMostJointPairs)
                    ? StepsBeforeDense(pairs)
                    : kMostSteps + kMostStepsPerPair * problem_.risk.samples() * problem_.risk.classes;
  expansion_ = gram_->Expand(state_.beta);
}

void JointMachine::StartFrom(std::span<const double> beta, std::span<const double>) {
  state_.beta.assign(beta.begin(), beta.end());
  problem_.risk.MakeFeasible(state_.beta);
  ExpandInto(*gram_, state_.beta, expansion_);
}

Evaluation JointMachine::Solve(std::span<const double> theta, double relative_gap, ThetaMover* mover) {
  ScopedSeconds seconds(work_.seconds);
  theta_.assign(theta.begin(), theta.end());
  ++work_.solves;
  for (;;) {
    state_.outputs.resize(state_.beta.size());
    expansion_->Outputs(theta_, state_.outputs);
    const JointResult result = is_float_ ? RunSolver<float>(relative_gap) : RunSolver<double>(relative_gap);
    Evaluation evaluation = Evaluate();
    const bool was_stopped = result.outcome == SolverOutcome::kStoppedByObserver;
    evaluation.is_precision_used_up =
        !was_stopped && !(evaluation.relative_inner_gap() <= kWantedSlack * relative_gap);
    if (evaluation.is_precision_used_up) SolveDense(relative_gap, evaluation);
    if (was_stopped || mover == nullptr) return evaluation;
    const std::optional<double> wanted = mover->MoveInside(evaluation, theta_);
    if (!wanted) return evaluation;
    relative_gap = *wanted;
  }
}

template <class T>
JointResult JointMachine::RunSolver(double relative_gap) {
  const std::vector<ClassTerm> terms = gram_->TermsAt(theta_);
  std::vector<GramRows<T>> rows;
  rows.reserve(terms.size());
  std::vector<JointTerm<T>> joint_terms;
  for (const ClassTerm& term : terms) {
    rows.emplace_back(gram_->samples(), term.theta);
    joint_terms.push_back({&rows.back(), term.classes});
  }
  std::optional<GramRows<T>> given;
  if (gram_->given() != nullptr) {
    const std::span<const double> theta = gram_->GivenTheta(theta_);
    given.emplace(*gram_->given(), theta);
    if (std::any_of(theta.begin(), theta.end(), [](double weight) { return weight != 0; }))
      joint_terms.push_back({&*given, {}});
  }
  JointOptions options;
  options.relative_gap = relative_gap;
  options.most_steps = most_steps_;
  if (options_.row_cache_bytes > 0) options.cache_bytes = options_.row_cache_bytes;
  options.reserve = &reserve_;
  options.pool = options_.pool;
  options.proceed = [this] {
    control_.Tick();
    return !control_.ShouldStop();
  };
  const JointResult result = SolveJoint<T>(problem_.risk, joint_terms, state_, options);
  if (result.work >= most_steps_) most_steps_ /= kFewerSteps;
  return result;
}

// Where steps got nowhere and there are few pairs: the whole matrix at once, in double precision.
void JointMachine::SolveDense(double relative_gap, Evaluation& evaluation) {
  if (FreePairs(problem_.risk) > (is_float_ ? kMostFloatPairs : kMostJointPairs)) return;
  if (dense_failures_ >= kMostDenseFailures) return;
  const Index size = gram_->left_count();
  std::vector<Index> all(state_.beta.size());
  std::iota(all.begin(), all.end(), Index{0});
  std::vector<double> kernel(all.size() * all.size());
  gram_->Learn(theta_)->Rows(all, kernel.data(), size);
  work_.tried_dense = true;
  const double reached = SolveJointDense(problem_.risk, std::move(kernel), relative_gap, state_.beta,
                                         [&] { return !control_.ShouldStop(); });
  dense_failures_ = reached <= relative_gap ? 0 : dense_failures_ + 1;
  if (!(reached < evaluation.relative_inner_gap())) return;
  work_.solver = "dense";
  evaluation = Evaluate();
  evaluation.is_precision_used_up = !(evaluation.relative_inner_gap() <= kWantedSlack * relative_gap);
}

Evaluation JointMachine::Evaluate() {
  ExpandInto(*gram_, state_.beta, expansion_);
  Evaluation result;
  result.theta = theta_;
  result.beta = state_.beta;
  result.quadratics.resize(theta_.size());
  expansion_->Quadratics(result.quadratics);
  std::vector<double> outputs(state_.beta.size());
  expansion_->Outputs(theta_, outputs);
  const double quadratic = Dot(state_.beta, outputs);
  result.linear = problem_.risk.Dual(state_.beta);
  const Regularizer& regularizer = *problem_.regularizer;
  const double added = regularizer.Primal(theta_, result.quadratics) - 0.5 * Dot(theta_, result.quadratics);
  result.inner_dual = added + result.linear - 0.5 * quadratic;
  // Of the function at the factor that the certificate finds.
  const std::vector<Interval> margins =
      problem_.risk.Margins(outputs, problem_.risk.BiasesFor(state_.beta, outputs));
  const double scale = problem_.risk.BestScale(margins, quadratic);
  std::vector<double> scaled_quadratics = result.quadratics;
  for (double& value : scaled_quadratics) value *= scale * scale;
  result.primal = regularizer.Primal(theta_, scaled_quadratics) +
                  0.5 * scale * scale * (quadratic - Dot(theta_, result.quadratics)) +
                  problem_.risk.ValueAt(margins, scale);
  result.dual = LowerBound(regularizer, result.linear, result.quadratics, /*may_scale=*/true);
  return result;
}

Certificate JointMachine::Certify(Gram& gram, std::span<const double> theta, std::span<const double> beta,
                                  std::span<const double> dual_beta) const {
  return CertifyJoint(gram, problem_.risk, *problem_.regularizer, theta, beta, dual_beta);
}

}  // namespace kweave
