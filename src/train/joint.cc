// One machine for all classes, with kernel weights common to them.
//
// Next on the main path: weights/run/learn_joint.h.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "kweave/error.h"
#include "regularizer/lp_norm.h"
#include "train/class_kernels.h"
#include "train/multiclass.h"
#include "train/objective.h"
#include "train/warm_start.h"
#include "weights/run/learn_joint.h"
#include "weights/strategies/known_weights.h"

namespace kweave {
namespace {

// A function for each class and term of the learned kernel: what the terms make of the betas of all classes.
// Where no kernel on samples has a weight, there is still a bias for each class.
std::vector<ModelMachine> MakeMachines(const JointRisk& risk, std::vector<ClassTerm> terms,
                                       std::size_t kernels, const Learned& learned) {
  if (terms.empty()) terms.push_back({std::vector<double>(kernels, 0.0), IdentityClasses(risk.classes)});
  std::vector<ModelMachine> machines;
  for (Index u = 0; u < risk.classes; ++u) {
    for (const ClassTerm& term : terms) {
      std::vector<double> beta(risk.y.size(), 0.0);
      for (Index v = 0; v < risk.classes; ++v) {
        const double share = term.classes[static_cast<std::size_t>(u * risk.classes + v)];
        for (Index i = 0; i < risk.samples() && share != 0; ++i) {
          beta[static_cast<std::size_t>(i)] += share * learned.beta[risk.At(i, v)];
        }
      }
      ModelMachine machine{term.theta, SparseVector::From(beta), 0, u};
      if (&term == &terms.front()) machine.bias = learned.certificate.biases[static_cast<std::size_t>(u)];
      machines.push_back(std::move(machine));
    }
  }
  return machines;
}

// Bounds are those of the whole: the classes share one objective.
std::vector<MachineReport> MakeReports(const JointRisk& risk, std::span<const std::string> classes,
                                       const Learned& learned) {
  std::vector<MachineReport> reports;
  for (Index u = 0; u < risk.classes; ++u) {
    MachineReport report;
    report.name = classes[static_cast<std::size_t>(u)];
    report.status = learned.status;
    report.primal = learned.certificate.primal;
    report.dual = learned.certificate.dual;
    report.relative_gap = learned.certificate.relative_gap;
    report.iterations = learned.iterations;
    report.solves = learned.solves;
    report.bias = learned.certificate.biases[static_cast<std::size_t>(u)];
    for (Index i = 0; i < risk.samples(); ++i) report.n_support += learned.beta[risk.At(i, u)] != 0;
    report.weights = learned.theta;
    reports.push_back(std::move(report));
  }
  return reports;
}

// Weights and quadratics of the kernels on samples, summed over those on classes; then those of kernels given
// on pairs.
void SumOverClassKernels(std::size_t kernels, std::size_t class_kernels, std::vector<double>& values) {
  std::vector<double> sums(kernels, 0.0);
  const std::size_t products = kernels * class_kernels;
  for (std::size_t m = 0; m < products; ++m) sums[m / class_kernels] += values[m];
  sums.insert(sums.end(), values.begin() + static_cast<std::ptrdiff_t>(products), values.end());
  values = std::move(sums);
}

// What the model keeps of kernels given on pairs: sample after sample.
LearnedPairs MakePairs(const JointRisk& risk, const JointGram& gram, const Learned& learned) {
  LearnedPairs pairs;
  const std::span<const double> theta = gram.GivenTheta(learned.theta);
  pairs.theta.assign(theta.begin(), theta.end());
  for (Index i = 0; i < risk.samples(); ++i) {
    for (Index u = 0; u < risk.classes; ++u) pairs.beta.push_back(learned.beta[risk.At(i, u)]);
  }
  return pairs;
}

// The kernels given on pairs, as a Gram of these; null without any.
std::unique_ptr<Grams> MakePairGrams(const TrainingRun& run) {
  const PairKernels& pairs = run.prepared.pairs;
  if (pairs.empty()) return nullptr;
  return std::make_unique<Grams>(GramSource{&pairs.kernels, pairs.views, pairs.normalization},
                                 GramSettings{.use_float = run.plan.use_float, .factors_sum_to_zero = true},
                                 run.pool);
}

// The betas of all classes, where the model to start from was learned jointly and has a machine for each.
std::optional<WarmStart> StartOf(const TrainingRun& run) {
  if (run.start == nullptr || !run.options.class_kernels.empty()) return std::nullopt;
  const ModelContent& content = run.start->content();
  if (content.multiclass != Multiclass::kJoint || content.classes != run.samples.classes ||
      content.machines.size() != content.classes.size()) {
    return std::nullopt;
  }
  std::optional<WarmStart> start;
  for (std::size_t u = 0; u < content.machines.size(); ++u) {
    WarmStart part = MakeWarmStart(*run.start, run.samples, run.prepared, run.options, u);
    if (!start) start.emplace().theta = std::move(part.theta);
    start->beta.insert(start->beta.end(), part.beta.begin(), part.beta.end());
  }
  for (const Index m : run.prepared.pairs.kept) {
    const auto found =
        std::ranges::find(content.pairs.kernels, run.prepared.names[m], &ModelPairKernel::name);
    start->theta.push_back(found == content.pairs.kernels.end() ? 0 : found->weight);
  }
  return start;
}

}  // namespace

LearnedMachines LearnJoint(const TrainingRun& run) {
  const std::vector<std::string>& classes = run.samples.classes;
  const Objective objective(run.samples.y, run.samples.upper, run.options);
  const std::vector<Index> y(run.samples.labels.of_sample.begin(), run.samples.labels.of_sample.end());
  const ClassKernels class_kernels = MakeClassKernels(run.options.class_kernels, classes);
  const JointRisk risk{objective.risk().loss, y, run.samples.upper, static_cast<Index>(classes.size()),
                       run.options.bias};
  const std::optional<WarmStart> start = StartOf(run);
  const std::unique_ptr<Grams> pair_grams = MakePairGrams(run);
  const std::optional<GramPair> given = pair_grams ? std::optional(pair_grams->Pair()) : std::nullopt;
  LearnedMachines result;
  result.total = LearnUntilKnown(
      *run.regularizer, run.Learning(start ? &*start : nullptr), run.options.weights_tolerance,
      [&](const LearnOptions& options) {
        return LearnJoint(run.grams->Pair(),
                          {risk, run.regularizer, class_kernels.matrices, given ? &*given : nullptr}, options,
                          run.control);
      },
      run.control);
  Learned& learned = result.total;
  const JointGram gram(run.grams->Exact(), risk.classes, class_kernels.matrices,
                       given ? given->working : nullptr);
  result.problem.joint.dual = DualPointOf(learned.certificate);
  if (!run.options.class_kernels.empty()) {
    for (const ClassMatrix& matrix : class_kernels.matrices)
      result.problem.joint.class_kernels.push_back(SparseVector::From(matrix));
    result.problem.joint.theta = learned.theta;
    result.problem.joint.beta = SparseVector::From(learned.beta);
  }
  const std::size_t kernels = run.prepared.kept.size();
  result.machines = MakeMachines(risk, gram.TermsAt(learned.theta), kernels, learned);
  if (given) result.pairs = MakePairs(risk, gram, learned);
  if (!run.options.class_kernels.empty()) {
    const auto products = static_cast<std::size_t>(gram.products());
    result.class_kernel = ReportClassKernels(class_kernels, classes, std::span(learned.theta).first(products),
                                             std::span(learned.certificate.quadratics).first(products));
  }
  result.sources = SourcesOf(run.prepared);
  result.importance = FindImportance(*run.regularizer, learned.certificate, learned.theta, result.sources,
                                     kernels, std::max<std::size_t>(class_kernels.matrices.size(), 1));
  SumOverClassKernels(kernels, class_kernels.matrices.size(), learned.theta);
  SumOverClassKernels(kernels, class_kernels.matrices.size(), learned.certificate.quadratics);
  result.reports = MakeReports(risk, classes, learned);
  if (pair_grams) result.kernel_work.rows += pair_grams->rows_evaluated();
  return run.Account(std::move(result));
}

}  // namespace kweave
