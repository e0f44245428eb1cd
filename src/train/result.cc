#include "train/result.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kweave/version.h"
#include "model/content.h"
#include "model/json.h"
#include "qp/leave_one_out.h"
#include "train/effective_options.h"
#include "weights/gram_rows.h"

namespace kweave {
namespace {

// Above it the closed form, of n^3 operations, would take seconds.
constexpr Index kMostSamplesForLeaveOneOut = 3000;

constexpr std::size_t kKernelsReported = 10000;

// Weights and quadratics of all kernels in the order given; above the limit the heaviest ones.
std::vector<KernelReport> ReportKernels(const PreparedKernels& prepared, const Learned& learned) {
  std::vector<KernelReport> reports;
  for (const std::string& name : prepared.names) reports.push_back({name, 0, 0});
  for (std::size_t k = 0; k < prepared.kept.size(); ++k) {
    reports[prepared.kept[k]].weight = learned.theta[k];
    reports[prepared.kept[k]].quadratic = learned.certificate.quadratics[k];
  }
  if (reports.size() <= kKernelsReported) return reports;
  std::vector<Index> order(reports.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, std::greater{}, [&](Index m) { return reports[m].weight; });
  order.resize(kKernelsReported);
  std::ranges::sort(order);
  std::vector<KernelReport> heaviest;
  for (Index m : order) heaviest.push_back(std::move(reports[m]));
  return heaviest;
}

// Positions of the values that `is_chosen`.
template <class Predicate>
std::vector<Index> Positions(std::span<const double> values, Predicate is_chosen) {
  std::vector<Index> positions;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (is_chosen(values[k])) positions.push_back(static_cast<Index>(k));
  }
  return positions;
}

Summary MakeSummary(const PreparedKernels& prepared, const TrainOptions& options, const Learned& learned) {
  Summary summary;
  summary.status = learned.status;
  summary.task = options.task;
  summary.primal = learned.certificate.primal;
  summary.dual = learned.certificate.dual;
  summary.gap = learned.certificate.gap;
  summary.relative_gap = learned.certificate.relative_gap;
  summary.iterations = learned.iterations;
  summary.solves = learned.solves;
  summary.n_support = std::ranges::count_if(learned.beta, [](double b) { return b != 0; });
  summary.kernels = ReportKernels(prepared, learned);
  summary.kernels_total = static_cast<Index>(prepared.names.size());
  summary.kernels_active = std::ranges::count_if(learned.theta, [](double t) { return t > 0; });
  summary.seconds.solve = learned.solve_seconds;
  summary.seconds.weights = learned.weight_seconds;
  summary.seconds.certificate = learned.certificate_seconds;
  summary.history = learned.history;
  return summary;
}

Json NormLiteral(double norm) { return std::isinf(norm) ? Json("inf") : Json(norm); }

}  // namespace

ModelContent MakeContent(const PreparedSamples& samples, const PreparedKernels& prepared,
                         const TrainOptions& options, const Objective& objective, const Learned& learned) {
  ModelContent content;
  content.version = KWEAVE_VERSION;
  content.task = EffectiveTask(options);
  content.loss = EffectiveLoss(options).name;
  content.classes = samples.classes;
  content.training_count = static_cast<Index>(samples.indices.size());
  content.bias = objective.DecisionBias(learned.certificate.bias);
  content.summary = MakeSummary(prepared, options, learned);
  content.summary.bias = content.bias;

  const auto active = Positions(learned.theta, [](double t) { return t > 0; });
  content.kernels = prepared.kernels.Select(active);
  content.kernels.LetGo();
  for (Index m : active) content.theta.push_back(learned.theta[m]);

  const bool keeps_all = prepared.normalization.NeedsAllTrainingSamples();
  std::vector<Index> stored;
  for (std::size_t i = 0; i < learned.beta.size(); ++i) {
    const bool is_kept = keeps_all || (!samples.is_kept.empty() && samples.is_kept[i]);
    if (is_kept || learned.beta[i] != 0) stored.push_back(static_cast<Index>(i));
  }
  content.normalization = prepared.normalization.Select(active, stored);
  for (Index i : stored) {
    content.beta.push_back(learned.beta[i]);
    content.sample_indices.push_back(samples.indices[i]);
  }
  for (const View& view : ViewsOf(content.kernels, samples.views)) {
    content.samples.push_back({view.name, SelectRows(view.features, stored), view.feature_names});
  }
  return content;
}

std::vector<std::pair<std::string, std::string>> EffectiveOptions(const TrainOptions& options,
                                                                  const Context& context,
                                                                  const MemoryPlan& plan,
                                                                  const Learned& learned) {
  Json class_weights = Json::object();
  for (const auto& [label, factor] : options.class_weights) class_weights[label] = factor;
  const Json json = {{"task", options.task},
                     {"kernels", EffectiveKernels(options)},
                     {"loss", EffectiveLoss(options).name},
                     {"C", options.C},
                     {"epsilon", options.epsilon},
                     {"nu", options.nu},
                     {"sharpness", options.sharpness},
                     {"bias", options.bias},
                     {"norm", NormLiteral(options.norm)},
                     {"method", learned.method},
                     {"driver", learned.driver},
                     {"solver", learned.solver},
                     {"normalize", EffectiveNormalize(options)},
                     {"gap", options.gap},
                     {"certificate", options.certificate},
                     {"max_iterations", options.max_iterations},
                     {"class_weights", std::move(class_weights)},
                     {"sample_weights", !options.sample_weights.empty()},
                     {"precision", plan.use_float ? "float32" : "float64"},
                     {"base_cache_bytes", plan.base_cache_bytes},
                     {"row_cache_bytes", plan.row_cache_bytes},
                     {"seed", context.seed},
                     {"time_limit", context.time_limit_seconds}};
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

}  // namespace kweave
