#include "kweave/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/constants.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/run_control.h"
#include "base/threads.h"
#include "data/npy_writer.h"
#include "gram/alignment.h"
#include "gram/make_gram.h"
#include "kernel/kernel_table.h"
#include "kweave/error.h"
#include "kweave/output_file.h"
#include "model/content.h"
#include "model/json.h"
#include "model/match_views.h"
#include "train/labels.h"
#include "train/prepared.h"

namespace kweave {
namespace {

// Every class takes as long as all kernels by themselves: minutes where these take a second.
constexpr Index kMostClassesAligned = 100;

constexpr std::size_t kBlockBytes = std::size_t{256} << 20;  // more rows at once gain nothing

// The positions of the kernels with the largest weights, of those whose values follow from views; ascending.
std::vector<Index> HeaviestOnViews(const ModelContent& content, Index most) {
  std::vector<std::pair<double, Index>> order;
  for (Index m = 0; m < content.kernels.size(); ++m) {
    const Composite parts = content.kernels.Expression(m);
    if (std::ranges::any_of(parts.terms, [](const KernelTerm& term) { return term.file >= 0; })) continue;
    double weight = 0;
    for (const ModelMachine& machine : content.machines) weight += machine.theta[m];
    order.emplace_back(-weight, m);
  }
  std::ranges::sort(order);
  std::vector<Index> kept;
  for (const auto& [weight, m] : std::span(order).first(std::min<std::size_t>(order.size(), most)))
    kept.push_back(m);
  std::ranges::sort(kept);
  return kept;
}

PreparedSamples AllSamples(const Dataset& data) {
  PreparedSamples samples;
  samples.indices.resize(data.size);
  std::iota(samples.indices.begin(), samples.indices.end(), Index{0});
  samples.views = data.views;
  samples.matrices = data.matrices;
  samples.numbering = data.numbering;
  return samples;
}

// What kernels are aligned with: +1 and -1 of two classes, else a column for each class, 1 for its samples.
// Nothing where the labels are no classes.
std::vector<std::vector<double>> LabelColumns(const Labels& all_labels, const PreparedSamples& samples,
                                              const RunControl& control) {
  if (all_labels.empty()) return {};
  const auto refuse = [&](std::string_view reason) {
    control.Log(LogLevel::kNote, fmt::format("no alignments with the labels: {}", reason));
    return std::vector<std::vector<double>>{};
  };
  ClassLabels labels;
  try {
    labels = EncodeClasses(all_labels, samples.indices);
  } catch (const Error& error) {
    return refuse(error.what());
  }
  const std::size_t count = samples.indices.size();
  if (labels.size() > 2 && 2 * static_cast<std::size_t>(labels.size()) > count) {
    return refuse(fmt::format("{} different ones of {} samples are no classes", labels.size(), count));
  }
  if (labels.size() > kMostClassesAligned) {
    return refuse(
        fmt::format("{} classes, of which each would take as long as all kernels by themselves; at most {}",
                    labels.size(), kMostClassesAligned));
  }
  const bool is_binary = labels.size() == 2 && !labels.is_multilabel();
  std::vector<std::vector<double>> columns;
  for (std::int32_t u = is_binary ? 1 : 0; u < static_cast<std::int32_t>(labels.size()); ++u) {
    columns.emplace_back();
    for (std::size_t i = 0; i < count; ++i) {
      columns.back().push_back(labels.Has(i, u) ? 1 : is_binary ? -1 : 0);
    }
  }
  return columns;
}

std::size_t MemoryBytes(const Context& context) {
  return context.memory_bytes > 0 ? context.memory_bytes : AvailableMemoryBytes() / 2;
}

std::unique_ptr<Gram> MakeExactGram(const PreparedKernels& prepared, const Context& context,
                                    ThreadPool& pool) {
  const GramOptions options{
      .use_float = false, .evaluation = FamilyEvaluation::kDirect, .cache_bytes = MemoryBytes(context) / 2};
  return MakeGram(prepared.kernels, prepared.views, prepared.normalization, options, pool);
}

// Spreads values of the kept kernels over all kernels; what was left out stays 0.
std::vector<double> SpreadMatrix(std::span<const double> kept_values, std::span<const Index> kept,
                                 Index total) {
  std::vector<double> values(total * total);
  const auto count = static_cast<Index>(kept.size());
  for (Index a = 0; a < count; ++a) {
    for (Index b = 0; b < count; ++b) values[kept[a] * total + kept[b]] = kept_values[a * count + b];
  }
  return values;
}

Json MatrixJson(std::span<const double> values, std::size_t columns) {
  Json rows = Json::array();
  for (std::size_t r = 0; r < columns; ++r) {
    rows.push_back(std::vector<double>(values.begin() + r * columns, values.begin() + (r + 1) * columns));
  }
  return rows;
}

void WriteMatrix(Gram& gram, std::span<const double> theta, const std::string& path) {
  const Index n = gram.left_count();
  const std::shared_ptr<const LearnedMatrix> learned = gram.Learn(theta);
  const double shift = learned->shift();
  NpyWriter writer(path, n, n);
  std::vector<double> values(kRowsPerCall * n);
  for (Index begin = 0; begin < n; begin += kRowsPerCall) {
    std::vector<Index> rows(std::min(kRowsPerCall, n - begin));
    std::iota(rows.begin(), rows.end(), begin);
    learned->Rows(rows, values.data(), n);
    for (double& value : values) value += shift;
    writer.Append(std::span(values).first(rows.size() * n));
  }
  writer.Close();
}

std::string Optional(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : "-";
}

// `samples` are those of `labels` at its indices.
KernelAnalysis AnalyzePrepared(const PreparedKernels& prepared, const Labels& all_labels,
                               const PreparedSamples& samples, const Context& context, ThreadPool& pool,
                               const RunControl& control) {
  const auto total = static_cast<Index>(prepared.names.size());
  if (total > kMaximalAnalyzedKernels) {
    throw Error(ErrorKind::kUsage, fmt::format("{} kernels, at most {} can be compared with each other",
                                               total, kMaximalAnalyzedKernels));
  }
  KernelAnalysis analysis;
  for (const std::string& name : prepared.names) {
    analysis.kernels.emplace_back();
    analysis.kernels.back().name = name;
    analysis.kernels.back().scale = 0;
  }
  if (prepared.kept.empty()) {
    analysis.alignment.resize(total * total);
    analysis.centered_alignment.resize(total * total);
    return analysis;
  }

  const std::unique_ptr<Gram> gram = MakeExactGram(prepared, context, pool);
  const KernelMoments moments = ComputeMoments(*gram, std::min(MemoryBytes(context) / 4, kBlockBytes));
  const auto kept = static_cast<Index>(prepared.kept.size());
  analysis.alignment = SpreadMatrix(Alignments(moments.products, kept), prepared.kept, total);
  analysis.centered_alignment =
      SpreadMatrix(Alignments(moments.centered_products, kept), prepared.kept, total);
  const std::vector<std::vector<double>> columns = LabelColumns(all_labels, samples, control);
  std::vector<double> labels, centered;
  const bool has_signs = columns.size() == 1 && all_labels.separator.empty();
  if (has_signs) labels = LabelAlignments(*gram, moments, columns[0]);
  if (!columns.empty()) centered = CenteredLabelAlignments(*gram, moments, columns);
  for (Index k = 0; k < kept; ++k) {
    AnalyzedKernel& kernel = analysis.kernels[prepared.kept[k]];
    kernel.scale = prepared.normalization.scale[k];
    kernel.mean_diagonal = moments.mean_diagonal[k];
    kernel.mean = moments.mean[k];
    if (!labels.empty()) kernel.label_alignment = labels[k];
    if (!centered.empty()) kernel.centered_label_alignment = centered[k];
  }
  return analysis;
}

}  // namespace

KernelAnalysis AnalyzeKernels(const Dataset& data, const TrainOptions& options, const Context& context) {
  RunControl control(context);
  ThreadPool pool(context.threads);
  const PreparedSamples samples = AllSamples(data);
  const PreparedKernels prepared = PrepareKernels(samples, options, context.seed, pool, control);
  const ScopedPoll poll(pool, [&control] { control.ThrowIfStopped(); });
  return AnalyzePrepared(prepared, data.labels, samples, context, pool, control);
}

KernelAnalysis AnalyzeModelKernels(const Model& model, const Dataset& data, Index most_kernels,
                                   Index most_samples, const Context& context) {
  RunControl control(context);
  ThreadPool pool(context.threads);
  const ScopedPoll poll(pool, [&control] { control.ThrowIfStopped(); });
  const ModelContent& content = model.content();
  PreparedKernels prepared;
  prepared.kernels = content.kernels.Select(HeaviestOnViews(content, most_kernels));
  for (Index m = 0; m < prepared.kernels.size(); ++m) {
    prepared.names.push_back(prepared.kernels.Name(m));
    prepared.kept.push_back(m);
  }
  PreparedSamples samples;
  Random random(context.seed);
  samples.indices = RandomSubset(data.size, std::min(data.size, most_samples), random);
  std::vector<View> views = MatchViews(content, data);
  for (View& view : views) view.features = SelectRows(view.features, samples.indices);
  if (prepared.kernels.size() > 0) {
    prepared.views = ViewsOf(prepared.kernels, views);
    prepared.normalization = FitNormalization(prepared.kernels, prepared.views,
                                              content.normalization.sequence, pool, context.seed);
    // Here a kernel without variance has alignments of 0, and its factor does not matter.
    for (double& scale : prepared.normalization.scale) scale = std::isfinite(scale) && scale > 0 ? scale : 1;
  }
  return AnalyzePrepared(prepared, data.labels, samples, context, pool, control);
}

std::string KernelAnalysis::ToText() const {
  std::string text = fmt::format("{:>4}  {:>10}  {:>9}  {:>9}  {:>9}  {:>9}  {}\n", "", "factor",
                                 "mean k(x,x)", "mean k", "labels", "centred", "kernel");
  for (std::size_t m = 0; m < kernels.size(); ++m) {
    const AnalyzedKernel& kernel = kernels[m];
    text += fmt::format("{:>4}  {:>10.4g}  {:>11.4g}  {:>9.4g}  {:>9}  {:>9}  {}\n", m + 1, kernel.scale,
                        kernel.mean_diagonal, kernel.mean, Optional(kernel.label_alignment),
                        Optional(kernel.centered_label_alignment), kernel.name);
  }
  constexpr std::size_t kShown = 16;  // 7 characters each: about one line of a terminal
  const std::size_t shown = std::min(kernels.size(), kShown);
  text += "\ncentred alignments between the kernels\n";
  for (std::size_t a = 0; a < shown; ++a) {
    text += fmt::format("{:>4}", a + 1);
    for (std::size_t b = 0; b <= a; ++b)
      text += fmt::format(" {:>6.3f}", centered_alignment[a * kernels.size() + b]);
    text += '\n';
  }
  if (kernels.size() > shown)
    text += fmt::format("and {} more (all of them in the JSON)\n", kernels.size() - shown);
  return text;
}

std::string KernelAnalysis::ToJson() const {
  Json list = Json::array();
  for (const AnalyzedKernel& kernel : kernels) {
    Json json = {{"name", kernel.name},
                 {"scale", kernel.scale},
                 {"mean_diagonal", kernel.mean_diagonal},
                 {"mean", kernel.mean}};
    if (kernel.label_alignment) json["label_alignment"] = *kernel.label_alignment;
    if (kernel.centered_label_alignment) json["centered_label_alignment"] = *kernel.centered_label_alignment;
    list.push_back(std::move(json));
  }
  const Json json = {{"kernels", std::move(list)},
                     {"alignment", MatrixJson(alignment, kernels.size())},
                     {"centered_alignment", MatrixJson(centered_alignment, kernels.size())}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

void ExportKernels(const Dataset& data, const TrainOptions& options, const Context& context,
                   const std::string& directory) {
  RunControl control(context);
  ThreadPool pool(context.threads);
  const PreparedSamples samples = AllSamples(data);
  const PreparedKernels prepared = PrepareKernels(samples, options, context.seed, pool, control);
  const ScopedPoll poll(pool, [&control] { control.ThrowIfStopped(); });
  std::error_code code;
  std::filesystem::create_directories(directory, code);
  if (code) {
    throw Error(ErrorKind::kResource, fmt::format("{}: cannot be made: {}", directory, code.message()));
  }
  Json list = Json::array();
  for (const std::string& name : prepared.names) list.push_back({{"name", name}, {"file", nullptr}});

  const std::unique_ptr<Gram> gram = prepared.kept.empty() ? nullptr : MakeExactGram(prepared, context, pool);
  std::vector<double> theta(prepared.kept.size());
  for (std::size_t k = 0; k < prepared.kept.size(); ++k) {
    const std::string file = fmt::format("{:04}.npy", prepared.kept[k] + 1);
    list[prepared.kept[k]]["file"] = file;
    theta[k] = 1;
    WriteMatrix(*gram, theta, (std::filesystem::path(directory) / file).string());
    theta[k] = 0;
  }
  OutputFile index((std::filesystem::path(directory) / "kernels.json").string());
  index.Write(list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  index.Commit();
}

std::vector<KernelDescription> KernelDescriptions() {
  std::vector<KernelDescription> descriptions;
  for (const KernelKind* kind : KernelTable()) {
    KernelDescription& one = descriptions.emplace_back();
    one.name = kind->name;
    one.class_name = kind->class_name;
    one.sentence = kind->sentence;
    for (const ParameterRule& rule : kind->parameters) {
      one.parameters.push_back({std::string(rule.name), std::string(rule.sentence), std::string(rule.initial),
                                rule.width != ParameterRule::Width::kNone});
    }
  }
  return descriptions;
}

}  // namespace kweave
