#include "model/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "data/sequences.h"
#include "kweave/error.h"
#include "model/file.h"
#include "model/summary_json.h"

namespace kweave {
namespace {

constexpr std::size_t kKernelsShown = 20;   // a table with its heading on a screen of 24 lines
constexpr std::size_t kMachinesShown = 50;  // the machines of ten classes, one against one, are 45
constexpr std::size_t kNameWidth = 20;      // of the column of classes at least, and of bars
constexpr std::string_view kOptionsShown[] = {"loss", "norm", "method", "normalize", "gap"};

struct DescribedKernel {
  std::string name;
  std::string source;  ///< the view or views it works on
  double weight = 0;
  double quadratic = 0;
  double share = 0;                      ///< of sum_m theta_m q_m, the squared norm of the learned function
  const KernelReport* report = nullptr;  ///< null where the summary has none
};

/// What the model tells about a sample.
std::string Purpose(const ModelContent& content) {
  switch (content.task) {
    case Task::kClassify:
      if (!content.label_separator.empty()) {
        return fmt::format("classify: any of {} labels, each where its f > 0", content.classes.size());
      }
      if (content.multiclass) {
        return fmt::format("classify {} classes ({}): the one with the largest value", content.classes.size(),
                           ToString(*content.multiclass));
      }
      return fmt::format("classify '{}' (f < 0) against '{}' (f > 0)", content.classes[0],
                         content.classes[1]);
    case Task::kRegress:
      return "regress: f is the value";
    case Task::kOneClass:
      return "oneclass: f >= 0 where a sample is like those of training";
  }
  return {};
}

/// In the order of their values. Two with one machine are named by the purpose.
std::string ClassesText(const ModelContent& content) {
  if (!content.multiclass) return {};
  const std::size_t shown = std::min(content.classes.size(), kMachinesShown);
  std::string text =
      fmt::format("classes    '{}'", fmt::join(std::span(content.classes).first(shown), "', '"));
  if (shown < content.classes.size()) text += fmt::format(" and {} more", content.classes.size() - shown);
  return text + "\n";
}

/// Whether an option had a say in this model.
bool IsShown(const ModelContent& content, std::string_view option, std::string_view literal) {
  const bool has_threshold = content.loss == "one-class";
  if (option == "nu") return has_threshold;
  if (option == "C") return !has_threshold;
  if (option == "epsilon") return content.loss == "epsilon-insensitive";
  // Those of classes and weights, where they are not what they mostly are.
  if (option == "class_C" || option == "class_norm") return literal != "{}";
  if (option == "machine_weights") return literal == R"("common")";
  if (option == "regularizer") return literal != R"("norm")";
  return std::ranges::find(kOptionsShown, option) != std::end(kOptionsShown);
}

// The kernels of the model, heaviest share first.
std::vector<DescribedKernel> DescribedKernels(const ModelContent& content) {
  std::unordered_map<std::string_view, const KernelReport*> reports;
  for (const KernelReport& kernel : content.summary.kernels) reports[kernel.name] = &kernel;
  std::vector<DescribedKernel> described;
  double total = 0;
  for (Index m = 0; m < content.kernels.size(); ++m) {
    DescribedKernel kernel{content.kernels.Name(m), content.kernels.Source(m), 0, 0, 0};
    for (const ModelMachine& machine : content.machines) {
      kernel.weight += machine.theta[m] / static_cast<double>(content.machines.size());
    }
    described.push_back(std::move(kernel));
  }
  for (const ModelPairKernel& kernel : content.pairs.kernels) {
    described.push_back({kernel.name, kernel.file, kernel.weight, 0, 0});
  }
  for (DescribedKernel& kernel : described) {
    if (const auto found = reports.find(kernel.name); found != reports.end()) {
      kernel.report = found->second;
      kernel.quadratic = found->second->quadratic;
      // Machines with kernels on the classes hold products of both weights.
      if (content.summary.class_kernel) kernel.weight = found->second->weight;
    }
    kernel.share = kernel.weight * std::max(kernel.quadratic, 0.0);
    total += kernel.share;
  }
  // A file may hold anything: where the sum is not a number, there are no shares of it.
  const bool has_shares = total > 0 && std::isfinite(total);
  for (DescribedKernel& kernel : described) kernel.share = has_shares ? kernel.share / total : 0;
  std::ranges::stable_sort(described, std::greater{}, &DescribedKernel::share);
  return described;
}

// Shares added up per source, largest first.
std::vector<std::pair<std::string, double>> SourceShares(std::span<const DescribedKernel> kernels) {
  std::vector<std::pair<std::string, double>> shares;
  std::unordered_map<std::string_view, std::size_t> position;
  for (const DescribedKernel& kernel : kernels) {
    const auto [entry, is_new] = position.try_emplace(kernel.source, shares.size());
    if (is_new) shares.emplace_back(kernel.source, 0);
    shares[entry->second].second += kernel.share;
  }
  std::ranges::stable_sort(shares, std::greater{}, &std::pair<std::string, double>::second);
  return shares;
}

// A share that is no number, as a damaged file may have it, shows no bar.
std::string Bar(double share) {
  const double part = std::isnan(share) ? 0 : std::clamp(share, 0.0, 1.0);
  return fmt::format("{:<{}}", std::string(static_cast<std::size_t>(std::lround(part * kNameWidth)), '#'),
                     kNameWidth);
}

std::string KernelTableText(std::span<const DescribedKernel> kernels) {
  std::string text = fmt::format("{:>10}  {:>6}  {:<20}  {}\n", "weight", "share", "", "kernel");
  for (const DescribedKernel& kernel : kernels.first(std::min(kernels.size(), kKernelsShown))) {
    text += fmt::format("{:>10.4g}  {:>5.1f}%  {}  {}\n", kernel.weight, 100 * kernel.share,
                        Bar(kernel.share), kernel.name);
  }
  if (kernels.size() > kKernelsShown) {
    text += fmt::format("{:>10}  and {} more\n", "", kernels.size() - kKernelsShown);
  }
  return text;
}

bool IsProduct(const ModelContent& content) { return content.summary.projected_gradient.has_value(); }

// The factors of a learned product, narrowest first: the smaller the width in units of its feature, the more
// it tells.
std::string FactorTableText(const Summary& summary) {
  std::vector<KernelReport> factors;
  for (const KernelReport& factor : summary.kernels) {
    if (factor.weight > 0) factors.push_back(factor);
  }
  std::ranges::stable_sort(factors, std::greater{}, &KernelReport::weight);
  const double largest = factors.empty() ? 0 : factors.front().weight;
  std::string text = fmt::format("{:>10}  {:<20}  {}\n", "weight", "", "factor");
  for (const KernelReport& factor : std::span(factors).first(std::min(factors.size(), kKernelsShown))) {
    text += fmt::format("{:>10.4g}  {}  {}\n", factor.weight, Bar(factor.weight / largest), factor.name);
  }
  if (factors.size() > kKernelsShown)
    text += fmt::format("{:>10}  and {} more\n", "", factors.size() - kKernelsShown);
  return text;
}

std::string SourceTableText(std::span<const DescribedKernel> kernels) {
  const auto shares = SourceShares(kernels);
  if (shares.size() < 2) return {};
  std::string text = fmt::format("\n{:>10}  {:>6}  {:<20}  {}\n", "", "share", "", "source");
  for (std::size_t k = 0; k < std::min(shares.size(), kKernelsShown); ++k) {
    const auto& [source, share] = shares[k];
    text += fmt::format("{:>10}  {:>5.1f}%  {}  {}\n", "", 100 * share, Bar(share), source);
  }
  if (shares.size() > kKernelsShown)
    text += fmt::format("{:>10}  and {} more\n", "", shares.size() - kKernelsShown);
  return text;
}

// Of a kernel or source: its weight and its share of the sum of all weights, where they are certified.
template <class Report>
std::string IntervalRow(const Report& report, std::string_view name) {
  const WeightInterval& weight = *report.weight_interval;
  const WeightInterval& share = *report.share_interval;
  return fmt::format("{:>8.3g} to {:<8.3g}  {:>5.1f} to {:>5.1f}%  {}\n", weight.lower, weight.upper,
                     100 * share.lower, 100 * share.upper, name);
}

// Where the weights can be at any optimum: of the kernels, then of the sources where there are several.
std::string IntervalTableText(std::span<const DescribedKernel> kernels, const Summary& summary) {
  if (!summary.no_intervals.empty())
    return fmt::format("\nNothing is certified of single weights: {}.\n", summary.no_intervals);
  std::string text;
  std::size_t shown = 0;
  for (const DescribedKernel& kernel : kernels) {
    if (kernel.report == nullptr || !kernel.report->share_interval || shown++ >= kKernelsShown) continue;
    text += IntervalRow(*kernel.report, kernel.name);
  }
  if (shown > kKernelsShown) text += fmt::format("{:>20}  and {} more\n", "", shown - kKernelsShown);
  for (std::size_t k = 0; k < std::min(summary.sources.size(), kKernelsShown); ++k) {
    const SourceReport& source = summary.sources[k];
    if (summary.sources.size() > 1 && source.share_interval)
      text += IntervalRow(source, "all of " + source.name);
  }
  if (text.empty()) return text;
  return fmt::format("\n{:>20}  {:>15}  {}\n", "weight, certified", "of all weights", "kernel") + text;
}

// Under a mixed norm: every group, and what each of its kernels has of it.
std::string GroupTableText(const Summary& summary) {
  if (summary.groups.empty()) return {};
  std::string text = fmt::format("\n{:>10}  {:>10}  {}\n", "weight", "within", "group");
  for (std::size_t g = 0; g < std::min(summary.groups.size(), kKernelsShown); ++g) {
    const GroupReport& group = summary.groups[g];
    text += fmt::format("{:>10.4g}  {:>10}  {}\n", group.weight, "", group.name);
    for (std::size_t k = 0; k < std::min(group.kernels.size(), kKernelsShown); ++k) {
      text += fmt::format("{:>10}  {:>10.4g}    {}\n", "", group.within[k], group.kernels[k]);
    }
    if (group.kernels.size() > kKernelsShown)
      text += fmt::format("{:>10}  {:>10}    and {} more\n", "", "", group.kernels.size() - kKernelsShown);
  }
  if (summary.groups.size() > kKernelsShown)
    text += fmt::format("{:>10}  and {} more\n", "", summary.groups.size() - kKernelsShown);
  return text;
}

// Kernels on the classes, heaviest first.
std::string ClassKernelTableText(const Summary& summary) {
  if (!summary.class_kernel) return {};
  std::vector<KernelReport> kernels = summary.class_kernel->kernels;
  std::ranges::stable_sort(kernels, std::greater{}, &KernelReport::weight);
  std::string text = fmt::format("\n{:>10}  {}\n", "weight", "kernel on the classes");
  for (const KernelReport& kernel : std::span(kernels).first(std::min(kernels.size(), kKernelsShown))) {
    text += fmt::format("{:>10.4g}  {}\n", kernel.weight, kernel.name);
  }
  if (kernels.size() > kKernelsShown)
    text += fmt::format("{:>10}  and {} more\n", "", kernels.size() - kKernelsShown);
  return text;
}

Json DescribeMachines(const ModelContent& content) {
  constexpr double kMostCoefficients = 1e8;  // some gigabytes as text
  const auto stored = content.sample_indices.size();
  if (static_cast<double>(stored) * static_cast<double>(content.machines.size()) > kMostCoefficients) {
    throw Error(ErrorKind::kResource,
                fmt::format("{} machines over {} stored samples are too many to write out as JSON",
                            content.machines.size(), stored));
  }
  Json machines = Json::array();
  for (const ModelMachine& machine : content.machines) {
    machines.push_back({{"class", content.classes[machine.output]}});
    if (machine.against >= 0) machines.back()["against"] = content.classes[machine.against];
    machines.back()["weights"] = machine.theta;
    machines.back()["beta"] = machine.beta.ToDense(stored);
    machines.back()["bias"] = machine.bias;
  }
  return machines;
}

// What each machine found, with its heaviest kernel.
std::string MachineTableText(const Summary& summary) {
  if (summary.machines.empty()) return {};
  const auto shown = std::span(summary.machines).first(std::min(summary.machines.size(), kMachinesShown));
  const auto name_of = [](const MachineReport& machine) {
    return machine.against.empty() ? machine.name : fmt::format("{} or {}", machine.name, machine.against);
  };
  std::size_t width = kNameWidth;
  for (const MachineReport& machine : shown) width = std::max(width, name_of(machine).size());
  std::string text = fmt::format("\n{:>10}  {:>6}  {:>8}  {:<{}}  {}\n", "bias", "SVs", "gap", "class", width,
                                 "heaviest kernel");
  for (const MachineReport& machine : shown) {
    const auto heaviest = std::ranges::max_element(machine.weights);
    const std::size_t at = heaviest - machine.weights.begin();
    const bool has_weight = at < std::min(machine.weights.size(), summary.kernels.size()) && *heaviest > 0;
    text += fmt::format("{:>10.4g}  {:>6}  {:>8.2g}  {:<{}}  {}\n", machine.bias, machine.n_support,
                        machine.relative_gap, name_of(machine), width,
                        has_weight ? summary.kernels[at].name : "none");
  }
  if (summary.machines.size() > shown.size()) {
    text += fmt::format("{:>10}  and {} more\n", "", summary.machines.size() - shown.size());
  }
  return text;
}

}  // namespace

std::string DescribeForPeople(const ModelContent& content) {
  const Summary& summary = content.summary;
  const auto kernels = DescribedKernels(content);
  std::string text = fmt::format("Kweave model ({}), {}\n", content.version, Purpose(content));
  text += IsProduct(content)
              ? fmt::format(
                    "status     {}, projected gradient {:.2g} (not convex: a stationary point, no more)\n",
                    ToString(summary.status), *summary.projected_gradient)
              : fmt::format("status     {}, relative duality gap {:.2g} (certificate: {})\n",
                            ToString(summary.status), summary.relative_gap, ToString(summary.certificate));
  text += fmt::format("objective  primal {:.8g}, dual {:.8g}\n", summary.primal, summary.dual);
  text += fmt::format("samples    {} support vectors of {} training samples", summary.n_support,
                      content.training_count);
  text += !content.multiclass ? fmt::format(", bias {:.6g}\n", content.machines[0].bias) : "\n";
  text += ClassesText(content);
  for (const View& view : content.samples) {
    const auto missing = std::ranges::find(summary.missing_views, view.name, &MissingReport::view);
    const std::string lacks = missing == summary.missing_views.end()
                                  ? ""
                                  : fmt::format(", missing in {} training samples", missing->missing);
    const SequenceRows* sequences = AsSequences(view.features);
    text += sequences != nullptr
                ? fmt::format("view       {}: sequences of up to {} letters of {}{}\n", view.name,
                              sequences->cols, sequences->alphabet, lacks)
                : fmt::format("view       {}: {} features{}\n", view.name, ColumnCount(view.features), lacks);
  }
  std::string options;
  for (const auto& [name, literal] : summary.options) {
    if (IsShown(content, name, literal))
      options += fmt::format("{}{} = {}", options.empty() ? "" : ", ", name, literal);
  }
  if (!options.empty()) text += fmt::format("options    {}\n", options);
  if (IsProduct(content)) {
    text += fmt::format("product    {} of {} factors have a width; weight: of the squared distance\n\n",
                        summary.kernels_active, summary.kernels_total);
    return text + FactorTableText(summary);
  }
  const bool has_own_weights = content.machines.size() > 1 && content.multiclass != Multiclass::kJoint &&
                               options.find("machine_weights") == std::string::npos;
  text += fmt::format("kernels    {} of {} have a weight{}; share: part of the squared norm of f\n\n",
                      summary.kernels_active, summary.kernels_total,
                      has_own_weights ? " (its mean over the machines)" : "");
  if (kernels.empty()) return text + "no kernel has a weight: every sample gets the same prediction\n";
  return text + KernelTableText(kernels) + SourceTableText(kernels) + IntervalTableText(kernels, summary) +
         GroupTableText(summary) + ClassKernelTableText(summary) + MachineTableText(summary);
}

Json DescribeAsJson(const ModelContent& content) {
  Json kernels = Json::array(), sources = Json::array(), views = Json::array();
  const auto described = DescribedKernels(content);
  for (const DescribedKernel& kernel : described) {
    kernels.push_back({{"name", kernel.name},
                       {"source", kernel.source},
                       {"weight", kernel.weight},
                       {"quadratic", kernel.quadratic},
                       {"share", kernel.share}});
    if (kernel.report == nullptr || !kernel.report->share_interval) continue;
    const auto& [weight, share] = std::pair(*kernel.report->weight_interval, *kernel.report->share_interval);
    kernels.back()["weight_interval"] = {weight.lower, weight.upper};
    kernels.back()["weight_share_interval"] = {share.lower, share.upper};
  }
  for (const auto& [source, share] : SourceShares(described)) {
    sources.push_back({{"source", source}, {"share", share}});
  }
  for (const View& view : content.samples) {
    views.push_back({{"name", view.name}, {"features", ColumnCount(view.features)}});
    if (!view.feature_names.empty()) views.back()["feature_names"] = view.feature_names;
    if (const SequenceRows* sequences = AsSequences(view.features))
      views.back()["alphabet"] = sequences->alphabet;
  }
  Json json = {{"format", FormatOf(content)},
               {"version", content.version},
               {"task", ToString(content.task)},
               {"loss", content.loss},
               {"classes", content.classes},
               {"views", std::move(views)},
               {"kernels", std::move(kernels)},
               {"sources", std::move(sources)},
               {"training_count", content.training_count},
               {"sample_indices", content.sample_indices}};
  // Where samples were left out, their positions reach beyond the number trained on. Formats before 5 do not
  // tell.
  if (content.problem.data_count > 0) json["data_count"] = content.problem.data_count;
  if (!content.multiclass) {
    json["beta"] = content.machines[0].beta.ToDense(content.sample_indices.size());
    json["bias"] = content.machines[0].bias;
  } else {
    json["multiclass"] = ToString(*content.multiclass);
    json["machines"] = DescribeMachines(content);
    if (!content.pairs.kernels.empty()) json["pair_beta"] = content.pairs.beta;
  }
  json["summary"] = ToJson(content.summary);
  return json;
}

}  // namespace kweave
