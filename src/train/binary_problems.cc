#include "train/binary_problems.h"

#include <algorithm>
#include <optional>

#include "regularizer/lp_norm.h"
#include "train/objective.h"
#include "train/warm_start.h"

namespace kweave {
namespace {

// Where machine `k` starts, if the model to start from has the same machines.
std::optional<WarmStart> StartOf(const MulticlassRun& run, std::span<const BinaryProblem> problems,
                                 std::size_t k) {
  if (run.start == nullptr) return std::nullopt;
  const ModelContent& content = run.start->content();
  if (content.machines.size() != problems.size() || content.classes != run.samples.classes) {
    return std::nullopt;
  }
  const ModelMachine& machine = content.machines[k];
  if (machine.output != problems[k].output || machine.against != problems[k].against) return std::nullopt;
  WarmStart start = MakeWarmStart(*run.start, run.samples, run.prepared, run.options, k);
  if (problems[k].rows.empty()) return start;
  std::vector<double> beta;
  for (Index i : problems[k].rows) beta.push_back(start.beta[i]);
  start.beta = std::move(beta);
  return start;
}

Learned LearnOne(const MulticlassRun& run, const BinaryProblem& problem, const WarmStart* start) {
  const Objective objective(problem.y, problem.upper, run.options);
  if (run.grams == nullptr) return LearnBiasOnly(objective.risk());
  const LearnOptions options{run.options.method,
                             run.options.driver,
                             run.options.gap,
                             run.options.max_iterations,
                             run.plan.row_cache_bytes,
                             SolverByName(run.options.solver),
                             &run.pool,
                             start};
  if (problem.rows.empty()) {
    return LearnWeights(run.grams->Pair(), {objective.risk(), LpConstraint(problem.norm)}, options, run.control);
  }
  const std::shared_ptr<GramSample> part = run.grams->Part(problem.rows);
  return LearnWeights(part->Pair(), {objective.risk(), LpConstraint(problem.norm)}, options, run.control);
}

// Status of the whole: the first that is not converged.
void Add(const Learned& one, Learned& total) {
  if (total.status == Status::kConverged) total.status = one.status;
  total.certificate.primal += one.certificate.primal;
  total.certificate.dual += one.certificate.dual;
  total.certificate.gap += one.certificate.gap;
  total.certificate.relative_gap = std::max(total.certificate.relative_gap, one.certificate.relative_gap);
  total.iterations += one.iterations;
  total.solves += one.solves;
  total.method = one.method;
  total.driver = one.driver;
  total.solver = one.solver;
  total.solve_seconds += one.solve_seconds;
  total.weight_seconds += one.weight_seconds;
  total.certificate_seconds += one.certificate_seconds;
}

MachineReport Report(const MulticlassRun& run, const BinaryProblem& problem, const Learned& learned) {
  MachineReport report;
  report.name = run.samples.classes[problem.output];
  if (problem.against >= 0) report.against = run.samples.classes[problem.against];
  report.status = learned.status;
  report.primal = learned.certificate.primal;
  report.dual = learned.certificate.dual;
  report.relative_gap = learned.certificate.relative_gap;
  report.iterations = learned.iterations;
  report.solves = learned.solves;
  report.bias = learned.certificate.bias;
  report.n_support = std::ranges::count_if(learned.beta, [](double b) { return b != 0; });
  report.weights = learned.theta;
  return report;
}

// The machine over all samples.
ModelMachine Machine(const MulticlassRun& run, const BinaryProblem& problem, const Learned& learned) {
  ModelMachine machine{learned.theta, learned.beta, learned.certificate.bias, problem.output,
                       problem.against};
  if (problem.rows.empty()) return machine;
  machine.beta.assign(run.samples.indices.size(), 0.0);
  for (std::size_t k = 0; k < problem.rows.size(); ++k) machine.beta[problem.rows[k]] = learned.beta[k];
  return machine;
}

}  // namespace

LearnedMachines LearnBinaryProblems(const MulticlassRun& run, std::span<const BinaryProblem> problems) {
  const std::size_t kernels = run.prepared.kept.size();
  LearnedMachines all;
  all.total.theta.assign(kernels, 0.0);
  all.total.certificate.quadratics.assign(kernels, 0.0);
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const std::optional<WarmStart> start = StartOf(run, problems, k);
    const Learned learned = LearnOne(run, problems[k], start ? &*start : nullptr);
    Add(learned, all.total);
    for (std::size_t m = 0; m < kernels; ++m) {
      all.total.theta[m] += learned.theta[m] / static_cast<double>(problems.size());
      all.total.certificate.quadratics[m] += learned.certificate.quadratics[m];
    }
    all.reports.push_back(Report(run, problems[k], learned));
    all.machines.push_back(Machine(run, problems[k], learned));
  }
  if (run.grams != nullptr) {
    all.uses_table = run.grams->Exact().TableError() > 0;
    all.kernel_rows = run.grams->rows_evaluated();
  }
  return all;
}

}  // namespace kweave
