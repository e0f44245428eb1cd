#include "train/result.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/memory.h"
#include "kweave/version.h"
#include "model/content.h"
#include "model/json.h"
#include "qp/leave_one_out.h"
#include "train/effective_options.h"
#include "train/option_json.h"
#include "weights/run/gram_rows.h"

namespace kweave {
namespace {

// Above it the closed form, of n^3 operations, would take seconds.
constexpr Index kMostSamplesForLeaveOneOut = 3000;

constexpr std::size_t kKernelsReported = 10000;  // about a megabyte of a model's summary

// The kernels that are reported, by their numbers in the order given: all, or above the limit the heaviest
// ones.
std::vector<Index> ReportedKernels(std::span<const double> weights) {
  std::vector<Index> order(weights.size());
  std::iota(order.begin(), order.end(), Index{0});
  if (order.size() <= kKernelsReported) return order;
  std::ranges::stable_sort(order, std::greater{}, [&](Index m) { return weights[m]; });
  order.resize(kKernelsReported);
  std::ranges::sort(order);
  return order;
}

// A vector over the kept kernels, those on pairs last, as one over all kernels; those left out have 0.
std::vector<double> OverAllKernels(const PreparedKernels& prepared, std::span<const double> kept) {
  std::vector<double> all(prepared.names.size(), 0.0);
  std::vector<Index> positions = prepared.kept;
  positions.insert(positions.end(), prepared.pairs.kept.begin(), prepared.pairs.kept.end());
  for (std::size_t k = 0; k < positions.size() && k < kept.size(); ++k) all[positions[k]] = kept[k];
  return all;
}

std::vector<double> Pick(std::span<const double> values, std::span<const Index> positions) {
  std::vector<double> picked;
  for (Index k : positions) picked.push_back(values[k]);
  return picked;
}

// The same of intervals.
std::vector<WeightInterval> OverAllKernels(const PreparedKernels& prepared,
                                           std::span<const WeightInterval> kept) {
  std::vector<WeightInterval> all(prepared.names.size());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const bool is_pair = k >= prepared.kept.size();
    all[is_pair ? prepared.pairs.kept[k - prepared.kept.size()] : prepared.kept[k]] = kept[k];
  }
  return all;
}

std::vector<WeightInterval> Pick(std::span<const WeightInterval> values, std::span<const Index> positions) {
  std::vector<WeightInterval> picked;
  for (const Index k : positions) picked.push_back(values[k]);
  return picked;
}

void ReportSources(const LearnedMachines& learned, Summary& summary) {
  const std::vector<double>& theta = learned.total.theta;
  const double total = std::accumulate(theta.begin(), theta.end(), 0.0);
  const Importance& importance = learned.importance.sources;
  for (std::size_t k = 0; k < learned.sources.names.size(); ++k) {
    SourceReport source{.name = learned.sources.names[k]};
    for (const Index m : learned.sources.parts[k]) source.weight += theta[m];
    source.share = total > 0 ? source.weight / total : 0;
    if (importance.is_known()) {
      source.weight_interval = importance.weights[k];
      source.share_interval = importance.shares[k];
    }
    summary.sources.push_back(std::move(source));
  }
}

// Of the kernels reported, and of all sources.
void ReportImportance(const PreparedKernels& prepared, const LearnedMachines& learned,
                      std::span<const Index> reported, Summary& summary) {
  ReportSources(learned, summary);
  const Importance& importance = learned.importance.kernels;
  summary.no_intervals = importance.reason;
  if (!importance.is_known()) return;
  const std::vector<WeightInterval> weights = OverAllKernels(prepared, importance.weights);
  const std::vector<WeightInterval> shares = OverAllKernels(prepared, importance.shares);
  for (std::size_t k = 0; k < reported.size(); ++k) {
    summary.kernels[k].weight_interval = weights[reported[k]];
    summary.kernels[k].share_interval = shares[reported[k]];
  }
  const double error = ShareError(importance, learned.total.theta);
  if (std::isfinite(error)) summary.share_error = error;
}

void ReportKernels(const PreparedKernels& prepared, const LearnedMachines& learned, Summary& summary) {
  const std::vector<double> weights = OverAllKernels(prepared, learned.total.theta);
  const std::vector<double> quadratics = OverAllKernels(prepared, learned.total.certificate.quadratics);
  const std::vector<Index> reported = ReportedKernels(weights);
  for (Index m : reported) summary.kernels.push_back({prepared.names[m], weights[m], quadratics[m]});
  summary.machines = learned.reports;
  for (MachineReport& machine : summary.machines) {
    machine.weights = Pick(OverAllKernels(prepared, machine.weights), reported);
    if (!machine.quadratics.empty())
      machine.quadratics = Pick(OverAllKernels(prepared, machine.quadratics), reported);
    if (machine.weight_intervals.empty()) continue;
    machine.weight_intervals = Pick(OverAllKernels(prepared, machine.weight_intervals), reported);
    machine.share_intervals = Pick(OverAllKernels(prepared, machine.share_intervals), reported);
  }
  ReportImportance(prepared, learned, reported, summary);
}

// Which of `count` kernels have a weight in any of the machines.
std::vector<bool> WeightedKernels(std::span<const ModelMachine> machines, std::size_t count) {
  std::vector<bool> is_used(count, false);
  for (const ModelMachine& machine : machines) {
    for (std::size_t m = 0; m < machine.theta.size(); ++m) {
      if (machine.theta[m] != 0) is_used[m] = true;
    }
  }
  return is_used;
}

// Which of `count` samples are support vectors of any of the machines.
std::vector<bool> SupportVectors(std::span<const ModelMachine> machines, std::size_t count) {
  std::vector<bool> is_used(count, false);
  for (const ModelMachine& machine : machines) {
    for (const std::int32_t i : machine.beta.positions) is_used[i] = true;
  }
  return is_used;
}

// A vector over all samples as one over those at `stored`, which hold all that is not zero.
SparseVector OverStored(const SparseVector& beta, std::span<const Index> stored) {
  SparseVector over{{}, beta.values};
  std::size_t k = 0;
  for (const std::int32_t i : beta.positions) {
    while (stored[k] < i) ++k;
    over.positions.push_back(static_cast<std::int32_t>(k));
  }
  return over;
}

std::vector<Index> Positions(const std::vector<bool>& is_chosen) {
  std::vector<Index> positions;
  for (std::size_t k = 0; k < is_chosen.size(); ++k) {
    if (is_chosen[k]) positions.push_back(static_cast<Index>(k));
  }
  return positions;
}

Summary MakeSummary(const PreparedKernels& prepared, const TrainOptions& options,
                    const LearnedMachines& learned) {
  const Learned& total = learned.total;
  Summary summary;
  summary.status = total.status;
  summary.task = options.task;
  summary.primal = total.certificate.primal;
  summary.dual = total.certificate.dual;
  summary.gap = total.certificate.gap;
  summary.relative_gap = total.certificate.relative_gap;
  summary.iterations = total.iterations;
  summary.solves = total.solves;
  summary.multiclass = learned.multiclass;
  summary.class_kernel = learned.class_kernel;
  summary.groups = learned.groups;
  ReportKernels(prepared, learned, summary);
  summary.kernels_total = static_cast<Index>(prepared.names.size());
  summary.projected_gradient = total.projected_gradient;
  summary.seconds.solve = total.solve_seconds;
  summary.seconds.weights = total.weight_seconds;
  summary.seconds.certificate = total.certificate_seconds;
  summary.history = total.history;
  summary.certificate = learned.uses_table ? KernelEvaluation::kTable : KernelEvaluation::kDirect;
  summary.kernel_rows = learned.kernel_work.rows;
  summary.base_values = learned.kernel_work.base_values;
  summary.leave_one_out = learned.leave_one_out;
  return summary;
}

// What the model keeps of kernels on pairs: those with a weight, and the pairs of the stored samples.
ModelPairs StoredPairs(const PairKernels& kernels, const LearnedPairs& learned, std::span<const Index> stored,
                       std::size_t classes) {
  ModelPairs pairs;
  for (std::size_t m = 0; m < learned.theta.size(); ++m) {
    if (learned.theta[m] == 0) continue;
    const auto number = static_cast<Index>(m);
    pairs.kernels.push_back({kernels.kernels.Name(number),
                             kernels.kernels.files[kernels.kernels.Term(number).file].name, learned.theta[m],
                             kernels.normalization.scale[m]});
  }
  if (pairs.kernels.empty()) return pairs;
  for (const Index i : stored) {
    const auto own = learned.beta.begin() + i * static_cast<Index>(classes);
    pairs.beta.insert(pairs.beta.end(), own, own + static_cast<Index>(classes));
  }
  return pairs;
}

// C_i of every sample of the data.
std::vector<double> CostsOf(const PreparedSamples& samples, Index data_count) {
  const auto is_first = [&](double C) { return C == samples.upper[0]; };
  if (std::ssize(samples.indices) == data_count && std::ranges::all_of(samples.upper, is_first)) {
    return {samples.upper[0]};
  }
  std::vector<double> costs(data_count, 0.0);
  for (std::size_t k = 0; k < samples.indices.size(); ++k) costs[samples.indices[k]] = samples.upper[k];
  return costs;
}

std::vector<std::int32_t> LeftOut(const PreparedKernels& prepared) {
  std::vector<bool> is_in(prepared.names.size(), false);
  for (const auto* kept : {&prepared.kept, &prepared.pairs.kept}) {
    for (const Index m : *kept) is_in[m] = true;
  }
  std::vector<std::int32_t> left_out;
  for (std::size_t m = 0; m < is_in.size(); ++m) {
    if (!is_in[m]) left_out.push_back(static_cast<std::int32_t>(m));
  }
  return left_out;
}

// What the learned machines do not know of the problem that they solve. `active` are the kernels with a
// weight.
ModelProblem MakeProblem(const PreparedSamples& samples, const PreparedKernels& prepared,
                         const TrainOptions& options, std::span<const Index> active, ModelProblem problem) {
  problem.is_known = true;
  problem.kernels = prepared.specifications.empty() ? EffectiveKernels(options) : prepared.specifications;
  for (const Index m : active) problem.active.push_back(static_cast<std::int32_t>(prepared.kept[m]));
  problem.left_out = LeftOut(prepared);
  problem.scale = prepared.normalization.scale;
  problem.scale.insert(problem.scale.end(), prepared.pairs.normalization.scale.begin(),
                       prepared.pairs.normalization.scale.end());
  if (std::ranges::all_of(problem.scale, [](double factor) { return factor == 1; })) problem.scale.clear();
  problem.scale_of_features = options.scale;
  problem.has_bias = options.bias;
  problem.epsilon = options.epsilon;
  problem.sharpness = options.sharpness;
  problem.data_count = samples.data_count;
  problem.costs = CostsOf(samples, samples.data_count);
  return problem;
}

// Whether training may choose the value.
bool HasAuto(const OptionRecord<TrainOptions>& record) {
  if (record.choices == nullptr) return false;
  const std::vector<OptionChoice> choices = record.choices();
  return std::ranges::find(choices, "auto", &OptionChoice::name) != choices.end();
}

}  // namespace

std::optional<SparseVector> DualPointOf(const Certificate& certificate) {
  if (certificate.dual_beta.empty()) return std::nullopt;
  return SparseVector::From(certificate.dual_beta);
}

LearnedMachines OneMachine(Learned learned, double decision_bias) {
  LearnedMachines one;
  one.machines = {{learned.theta, SparseVector::From(learned.beta), decision_bias}};
  one.problem.machines = {{.dual = DualPointOf(learned.certificate)}};
  one.total = std::move(learned);
  return one;
}

ModelContent MakeContent(const PreparedSamples& samples, const PreparedKernels& prepared,
                         const TrainOptions& options, const LearnedMachines& learned) {
  ModelContent content;
  content.version = KWEAVE_VERSION;
  content.task = options.task;
  content.loss = EffectiveLoss(options).name;
  content.classes = samples.classes;
  content.multiclass = learned.multiclass;
  content.label_separator = samples.labels.separator;
  content.training_count = static_cast<Index>(samples.indices.size());
  content.summary = MakeSummary(prepared, options, learned);
  content.summary.samples = content.training_count;
  for (const View& view : samples.views) {
    if (const Index missing = view.MissingCount(); missing > 0)
      content.summary.missing_views.push_back({view.name, missing});
    if (options.missing_views == MissingViews::kRescale) content.counted_views.push_back(view.name);
  }
  if (!content.multiclass) content.summary.bias = learned.machines[0].bias;

  const std::vector<Index> active = Positions(WeightedKernels(learned.machines, prepared.kept.size()));
  content.summary.kernels_active =
      static_cast<Index>(active.size()) +
      std::ranges::count_if(learned.pairs.theta, [](double weight) { return weight != 0; });
  content.problem = MakeProblem(samples, prepared, options, active, learned.problem);
  content.kernels = prepared.kernels.Select(active);
  content.kernels.LetGo();

  std::vector<bool> is_stored = SupportVectors(learned.machines, samples.indices.size());
  const std::size_t classes = samples.classes.size();
  for (std::size_t k = 0; k < learned.pairs.beta.size(); ++k) {
    if (learned.pairs.beta[k] != 0) is_stored[k / classes] = true;
  }
  content.summary.n_support = std::ranges::count(is_stored, true);
  const bool keeps_all = prepared.normalization.NeedsAllTrainingSamples();
  for (std::size_t i = 0; i < is_stored.size(); ++i) {
    if (keeps_all || (!samples.is_kept.empty() && samples.is_kept[i])) is_stored[i] = true;
  }
  const std::vector<Index> stored = Positions(is_stored);
  content.normalization = prepared.normalization.Select(active, stored);
  for (Index i : stored) content.sample_indices.push_back(samples.indices[i]);
  for (const ModelMachine& machine : learned.machines) {
    content.machines.push_back({Pick(machine.theta, active), OverStored(machine.beta, stored), machine.bias,
                                machine.output, machine.against});
  }
  content.pairs = StoredPairs(prepared.pairs, learned.pairs, stored, classes);
  for (const View& view : ViewsOf(content.kernels, samples.views)) {
    content.samples.push_back({view.name, SelectRows(view.features, stored), view.feature_names});
  }
  return content;
}

void ReportFactors(const PreparedKernels& factors, const Learned& learned, Summary& summary) {
  summary.kernels.clear();
  ReportKernels(factors, OneMachine(learned, 0), summary);
  summary.kernels_total = static_cast<Index>(factors.names.size());
  summary.kernels_active = std::ranges::count_if(learned.theta, [](double t) { return t > 0; });
}

std::vector<std::pair<std::string, std::string>> EffectiveOptions(const TrainOptions& options,
                                                                  const Context& context,
                                                                  const MemoryPlan& plan,
                                                                  const LearnedMachines& learned) {
  Json json = OptionsJson(options), given = Json::object();
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords()) {
    if (HasAuto(record)) given[std::string(record.name)] = json[std::string(record.name)];
  }
  json["kernels"] = EffectiveKernels(options);
  json["loss"] = EffectiveLoss(options).name;
  json["method"] = learned.total.method;
  json["driver"] = learned.total.driver;
  json["solver"] = learned.total.solver;
  json["normalize"] = EffectiveNormalize(options);
  if (learned.multiclass) json["multiclass"] = ToString(*learned.multiclass);
  json["sample_weights"] = !options.sample_weights.empty();
  json["precision"] = plan.use_float ? "float32" : "float64";
  json["base_cache_bytes"] = plan.base_cache_bytes;
  json["row_cache_bytes"] = plan.row_cache_bytes;
  json["seed"] = context.seed;
  json["time_limit"] = context.time_limit_seconds;
  // Training again starts from what was asked for, not from what was chosen for these samples.
  json["given"] = std::move(given);
  std::vector<std::pair<std::string, std::string>> literals;
  for (const auto& [name, value] : json.items()) {
    literals.emplace_back(name, value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return literals;
}

std::optional<double> LeaveOneOutScore(Gram& exact, const TrainOptions& options, const Risk& risk,
                                       const Learned& learned) {
  const std::string_view loss = EffectiveLoss(options).name;
  const bool is_regression = loss == "squared";
  if (!is_regression && loss != "least-squares") return std::nullopt;
  if (exact.left_count() > kMostSamplesForLeaveOneOut) return std::nullopt;
  GramRows<double> rows(exact, learned.theta);
  const std::vector<double> outputs = LeaveOneOut(risk, rows, learned.beta);
  if (outputs.empty()) return std::nullopt;
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double error = outputs[i] - risk.y[i];
    sum += is_regression ? error * error : outputs[i] * risk.y[i] > 0;
  }
  const double mean = sum / static_cast<double>(outputs.size());
  return is_regression ? std::sqrt(mean) : mean;
}

Learned LearnBiasOnly(const Risk& risk) {
  const std::vector<double> outputs(risk.y.size(), 0.0);
  Learned learned;
  learned.method = "bias";
  learned.solver = "none";
  learned.beta.assign(risk.y.size(), 0.0);
  // Without kernels the dual reaches the same value: the quadratic term is zero for every beta.
  learned.certificate.bias = risk.BestBias(outputs);
  learned.certificate.primal = learned.certificate.dual = risk.Value(outputs, learned.certificate.bias);
  return learned;
}

Model FinishModel(ModelContent content, const TrainOptions& options, const Context& context,
                  const MemoryPlan& plan, const LearnedMachines& learned, int threads, double kernel_seconds,
                  const RunControl& control) {
  Summary& summary = content.summary;
  summary.options = EffectiveOptions(options, context, plan, learned);
  content.problem.seed = context.seed;
  summary.threads = threads;
  summary.seconds.kernels = kernel_seconds;
  summary.seconds.total = control.Seconds();
  summary.peak_memory_bytes = PeakMemoryBytes();
  return Model(std::make_shared<ModelContent>(std::move(content)));
}

}  // namespace kweave
