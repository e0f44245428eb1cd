#include "report/model_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "kweave/bounds.h"
#include "model/content.h"
#include "report/chart.h"
#include "report/html.h"

namespace kweave::html {
namespace {

constexpr std::size_t kMostKernels = 2000;     // rows of the table: about a megabyte of page
constexpr std::size_t kMostMachineLines = 60;  // rows and columns of a map that one can still read
constexpr std::size_t kMostHistoryRows = 400;  // dots along a line: as many as it has pixels

bool IsProduct(const Summary& summary) { return summary.projected_gradient.has_value(); }

double TotalWeight(const Summary& summary) {
  double total = 0;
  for (const KernelReport& kernel : summary.kernels) total += kernel.weight;
  return total;
}

// theta_m q_m of every kernel as a share of their sum.
std::vector<double> NormShares(const Summary& summary) {
  std::vector<double> parts;
  for (const KernelReport& kernel : summary.kernels)
    parts.push_back(kernel.weight * std::max(kernel.quadratic, 0.0));
  const double total = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (double& part : parts) part = total > 0 && std::isfinite(total) ? part / total : 0;
  return parts;
}

// The indices of reports, heaviest first.
template <class Report>
std::vector<std::size_t> ByWeight(const std::vector<Report>& reports) {
  std::vector<std::size_t> order(reports.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return reports[a].weight > reports[b].weight; });
  return order;
}

std::string OptionText(const Summary& summary, std::string_view name) {
  for (const auto& [option, literal] : summary.options) {
    if (option == name)
      return literal.size() > 1 && literal.front() == '"' ? literal.substr(1, literal.size() - 2) : literal;
  }
  return {};
}

std::string Fact(std::string_view name, const std::string& value) {
  return value.empty() ? "" : fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, value);
}

// "which one of `names` is heaviest, and is that certain?" `noun`: source or kernel.
struct Contender {
  std::string name;
  double share = 0;
  std::optional<WeightInterval> interval;
};

std::string ContestSentence(const std::vector<Contender>& contenders, std::string_view noun) {
  const Contender& first = contenders.front();
  if (contenders.size() == 1)
    return fmt::format("Everything rests on <strong>{}</strong>.", Name(first.name));
  const Contender* rival = nullptr;
  for (const Contender& other : contenders) {
    if (&other == &first || !other.interval) continue;
    if (rival == nullptr || other.interval->upper > rival->interval->upper) rival = &other;
  }
  if (!first.interval || rival == nullptr) {
    return fmt::format("<strong>{}</strong> has the largest share of the kernel weight, {}.",
                       Name(first.name), Percent(first.share));
  }
  if (first.interval->lower > rival->interval->upper) {
    return fmt::format(
        "<strong>{}</strong> matters most: it carries {} of the kernel weight (certified: {} at every "
        "optimum), <span class=\"good\">more than any other {}</span>.",
        Name(first.name), Percent(first.share), PercentRange(*first.interval), noun);
  }
  return fmt::format(
      "<strong>{0}</strong> has the largest share of the kernel weight, {1}, but <span class=\"open\">the "
      "order is open</span>: at the optimum {0} lies between {2}, {3} between {4}.",
      Name(first.name), Percent(first.share), PercentRange(*first.interval, "and"), Name(rival->name),
      PercentRange(*rival->interval, "and"));
}

std::vector<ChartPoint> GapPoints(const std::vector<HistoryRow>& history) {
  std::vector<ChartPoint> points;
  const std::size_t step = history.size() / kMostHistoryRows + 1;
  for (std::size_t k = 0; k < history.size(); ++k) {
    const HistoryRow& row = history[k];
    if ((k % step != 0 && k + 1 != history.size()) || !(row.relative_gap > 0) ||
        !std::isfinite(row.relative_gap))
      continue;
    points.push_back(
        {row.seconds, row.relative_gap,
         fmt::format("after {:.3g} s: relative gap {:.3g}, primal {:.6g}, dual {:.6g}, {} solves",
                     row.seconds, row.relative_gap, row.primal, row.dual, row.solves)});
  }
  return points;
}

std::string GapChart(const Summary& summary) {
  std::vector<std::vector<ChartPoint>> lines;
  if (!summary.history.empty()) lines.push_back(GapPoints(summary.history));
  for (const MachineReport& machine : summary.machines) {
    if (!machine.history.empty() && lines.size() < kMostMachineLines)
      lines.push_back(GapPoints(machine.history));
  }
  const double target = std::strtod(OptionText(summary, "gap").c_str(), nullptr);
  std::vector<double> seconds{0}, gaps{target};
  for (const auto& line : lines) {
    for (const ChartPoint& point : line) seconds.push_back(point.x), gaps.push_back(point.y);
  }
  if (gaps.size() < 3) return {};
  const Axis x = AxisOver("seconds", seconds), y = AxisOver("relative gap", gaps, true);
  Chart chart(fmt::format("Relative duality gap over {:.3g} seconds, from {:.2g} to {:.2g}", x.high, gaps[1],
                          gaps.back()),
              x, y);
  if (target > 0) chart.AddGuide("asked for", x.low, target, x.high, target);
  for (std::size_t k = 0; k < lines.size(); ++k) chart.AddLine(1, k == 0 ? "reached" : "", lines[k]);
  return chart.ToHtml("Duality gap while training");
}

std::string BoundChart(const Summary& summary) {
  if (summary.kernels.size() < 2 || IsProduct(summary)) return {};
  const std::vector<double> norms = PartNorms(summary);
  if (std::ranges::none_of(norms, [](double norm) { return norm > 0; })) return {};
  const BoundCurve curve = GlobalBoundCurve(norms);
  std::vector<ChartPoint> points;
  for (std::size_t k = 0; k < curve.factor.size(); ++k) {
    points.push_back({curve.block_norm[k], curve.factor[k],
                      fmt::format("block norm {:.3g}: factor {:.4g}", curve.block_norm[k], curve.factor[k])});
  }
  Chart chart(fmt::format("Factor of the error bound against the block norm, smallest at {:.3g}",
                          curve.best_block_norm),
              AxisOver("block norm P", curve.block_norm), AxisOver("factor of the bound", curve.factor));
  chart.AddLine(1, "", points, false);
  const auto best = std::ranges::find(curve.block_norm, curve.best_block_norm) - curve.block_norm.begin();
  chart.AddDots(2, fmt::format("smallest, at P = {:.3g}", curve.best_block_norm),
                std::span(points).subspan(best, 1));
  return chart.ToHtml("Which norm suits what was learned");
}

// Shares of the sources in each machine's weights.
HeatMap MachineMap(const Model& model) {
  const Summary& summary = model.summary();
  const std::vector<std::string> sources = KernelSources(model);
  HeatMap map;
  map.caption = "Share of each source in the weights of each machine";
  map.corner = "machine";
  for (const std::string& source : sources) {
    if (std::ranges::find(map.columns, source) == map.columns.end()) map.columns.push_back(source);
  }
  const bool by_kernel = map.columns.size() < 2;
  if (by_kernel) {
    map.caption = "Share of each kernel in the weights of each machine";
    map.columns.clear();
    for (const KernelReport& kernel : summary.kernels) map.columns.push_back(kernel.name);
  }
  if (map.columns.size() > kMostMachineLines) map.columns.resize(kMostMachineLines);
  for (const MachineReport& machine : summary.machines) {
    if (map.rows.size() == kMostMachineLines) break;
    map.rows.push_back(machine.against.empty() ? machine.name : machine.name + " or " + machine.against);
    std::vector<double> shares(map.columns.size(), 0.0);
    const double total = std::accumulate(machine.weights.begin(), machine.weights.end(), 0.0);
    for (std::size_t m = 0; m < std::min(machine.weights.size(), sources.size()); ++m) {
      const std::size_t at = by_kernel ? m : std::ranges::find(map.columns, sources[m]) - map.columns.begin();
      if (at < shares.size() && total > 0) shares[at] += machine.weights[m] / total;
    }
    map.values.insert(map.values.end(), shares.begin(), shares.end());
  }
  return map;
}

}  // namespace

std::vector<std::string> KernelSources(const Model& model) {
  const ModelContent& content = model.content();
  std::unordered_map<std::string, std::string> known;
  for (Index m = 0; m < content.kernels.size(); ++m)
    known[content.kernels.Name(m)] = content.kernels.Source(m);
  for (const ModelPairKernel& kernel : content.pairs.kernels) known[kernel.name] = kernel.file;
  const auto& sources = content.summary.sources;
  std::vector<std::string> found;
  for (const KernelReport& kernel : content.summary.kernels) {
    if (const auto at = known.find(kernel.name); at != known.end()) {
      found.push_back(at->second);
      continue;
    }
    // A kernel without a weight is not stored; its name says the view where there are several.
    std::string source = sources.size() == 1 ? sources.front().name : "";
    for (const SourceReport& one : sources) {
      if (kernel.name.find("@" + one.name) != std::string::npos && one.name.size() > source.size())
        source = one.name;
    }
    found.push_back(source);
  }
  return found;
}

std::string PurposeText(const Model& model) {
  const Summary& summary = model.summary();
  std::string what;
  switch (model.task()) {
    case Task::kRegress:
      what = "Regression";
      break;
    case Task::kOneClass:
      what = "One-class model";
      break;
    case Task::kClassify: {
      const std::vector<std::string> classes = model.classes();
      what = model.is_multilabel() ? fmt::format("Classification by {} labels", classes.size())
             : classes.size() == 2
                 ? fmt::format("Classification: {} or {}", Name(classes[0]), Name(classes[1]))
                 : fmt::format("Classification into {} classes", classes.size());
    }
  }
  std::string views;
  for (const auto& [name, features] : model.views()) {
    views += fmt::format("{}{} ({})", views.empty() ? "; " : ", ", Name(name), Count(features, "feature"));
  }
  return fmt::format("{}; {}{}; {}", what, Count(model.content().training_count, "training sample"), views,
                     Count(summary.kernels_total, "kernel"));
}

std::string ImportanceSentence(const Model& model) {
  const Summary& summary = model.summary();
  if (IsProduct(summary)) {
    return fmt::format("The model is one Gaussian of {} factors, of which {} have a width.",
                       summary.kernels_total, summary.kernels_active);
  }
  if (summary.kernels_active == 0) return "No kernel has a weight: every sample gets the same prediction.";
  std::vector<Contender> contenders;
  const bool by_source = summary.sources.size() > 1;
  if (by_source) {
    for (const std::size_t s : ByWeight(summary.sources)) {
      contenders.push_back(
          {summary.sources[s].name, summary.sources[s].share, summary.sources[s].share_interval});
    }
  } else {
    const double total = TotalWeight(summary);
    for (const std::size_t m : ByWeight(summary.kernels)) {
      contenders.push_back({summary.kernels[m].name, total > 0 ? summary.kernels[m].weight / total : 0,
                            summary.kernels[m].share_interval});
    }
  }
  if (contenders.empty()) return {};
  return ContestSentence(contenders, by_source ? "source" : "kernel");
}

std::string OptimalitySentence(const Summary& summary) {
  if (IsProduct(summary)) {
    return fmt::format(
        "Its parameters are a stationary point (projected gradient {:.2g}); the problem is not convex, so "
        "nothing is certified beyond that.",
        *summary.projected_gradient);
  }
  const std::string gap = fmt::format("{:.2g} %", 100 * summary.relative_gap);
  if (summary.status == Status::kConverged) {
    return fmt::format("Training converged: the objective is certified to be within {} of the best possible.",
                       gap);
  }
  return fmt::format(
      "<span class=\"open\">Training did not reach the gap that was asked for</span> ({}); the objective is "
      "within {} of the best possible.",
      Escape(ToString(summary.status)), gap);
}

Section SourceSection(const Model& model) {
  const Summary& summary = model.summary();
  Section section{"sources", "Sources", ""};
  if (summary.sources.size() < 2) return section;
  const std::vector<std::string> owners = KernelSources(model);
  const std::vector<double> parts = NormShares(summary);
  std::unordered_map<std::string, std::pair<int, double>> sums;
  for (std::size_t m = 0; m < owners.size(); ++m) {
    ++sums[owners[m]].first;
    sums[owners[m]].second += parts[m];
  }
  Table table{.caption = "Sources by their share of the kernel weights",
              .columns = {{"Source"},
                          {"Kernels", true},
                          {"Share of weight", true, "sum of its kernels' weights, of the sum of all"},
                          {.title = "0 to 100 %", .is_wide = true},
                          {"At every optimum", true, "certified interval of the share"},
                          {"Part of f", true, "its part of the squared norm of the learned function"}},
              .rows = {}};
  for (const std::size_t s : ByWeight(summary.sources)) {
    const SourceReport& source = summary.sources[s];
    const auto& interval = source.share_interval;
    table.rows.push_back(
        {NameCell(source.name),
         {fmt::format("{}", sums[source.name].first), fmt::format("{}", sums[source.name].first)},
         PercentCell(source.share),
         {Bar(source.share, interval, 1), fmt::format("{:.9g}", source.share)},
         {interval ? PercentRange(*interval) : "–", fmt::format("{:.9g}", interval ? interval->lower : 0)},
         PercentCell(sums[source.name].second)});
  }
  section.content = table.ToHtml();
  section.content += summary.no_intervals.empty()
                         ? "<p class=\"note\">Bars: shares found. Brackets: where the share lies at every "
                           "optimum, certified by the "
                           "duality gap. Part of f also counts how much each source's function varies.</p>"
                         : fmt::format("<p class=\"note\">Nothing is certified of single weights: {}.</p>",
                                       Escape(summary.no_intervals));
  return section;
}

Section KernelSection(const Model& model, const std::map<std::string, double>& alignments) {
  const Summary& summary = model.summary();
  const bool is_product = IsProduct(summary);
  Section section{"kernels", is_product ? "Factors" : "Kernels", ""};
  const std::vector<std::string> owners = KernelSources(model);
  const std::vector<double> parts = NormShares(summary);
  const double total = TotalWeight(summary);
  std::vector<std::size_t> order = ByWeight(summary.kernels);
  if (order.size() > kMostKernels) order.resize(kMostKernels);
  const bool has_sources = summary.sources.size() > 1;
  Table table{.caption = "Kernels by weight", .columns = {{"Kernel"}}, .rows = {}};
  if (has_sources) table.columns.push_back({"Source"});
  table.columns.push_back({"Weight", true});
  if (!is_product) {
    table.columns.insert(table.columns.end(),
                         {{"Share", true, "of the sum of all weights"},
                          {.title = "Share and its interval", .is_wide = true},
                          {"At every optimum", true, "certified interval of the share"},
                          {"Part of f", true, "its part of the squared norm of the learned function"}});
  }
  if (!alignments.empty())
    table.columns.push_back({"Alignment", true, "centred alignment with the labels of the data"});
  double full = 0;  // bars end where the longest does
  for (const KernelReport& kernel : summary.kernels) {
    full = std::max(full, total > 0 ? kernel.weight / total : 0);
    if (kernel.share_interval && kernel.weight > 0)
      full = std::max(full, std::min(kernel.share_interval->upper, 1.0));
  }
  for (const std::size_t m : order) {
    const KernelReport& kernel = summary.kernels[m];
    const double share = total > 0 ? kernel.weight / total : 0;
    const auto& interval = kernel.share_interval;
    std::vector<Cell> row{NameCell(kernel.name)};
    if (has_sources) row.push_back(NameCell(owners[m]));
    row.push_back(NumberCell(kernel.weight));
    if (!is_product) {
      row.insert(row.end(), {PercentCell(share),
                             {Bar(share, interval, full), fmt::format("{:.9g}", share)},
                             {interval ? PercentRange(*interval) : "–",
                              fmt::format("{:.9g}", interval ? interval->upper : 0)},
                             PercentCell(parts[m])});
    }
    if (!alignments.empty()) {
      const auto at = alignments.find(kernel.name);
      row.push_back(NumberCell(at == alignments.end() ? std::nan("") : at->second));
    }
    table.rows.push_back(std::move(row));
  }
  section.content =
      fmt::format("<p>{} of {} have a weight{}. Bars end at {}.</p>", summary.kernels_active,
                  Count(summary.kernels_total, is_product ? "factor" : "kernel"),
                  summary.machines.size() > 1 ? ", here its mean over the machines" : "", Percent(full));
  if (order.size() < static_cast<std::size_t>(summary.kernels_total))
    section.content += fmt::format("<p class=\"note\">The heaviest {} are listed.</p>", order.size());
  if (!summary.no_intervals.empty())
    section.content += fmt::format("<p class=\"note\">Nothing is certified of single weights: {}.</p>",
                                   Escape(summary.no_intervals));
  section.content += table.ToHtml();
  return section;
}

Section MachineSection(const Model& model) {
  const Summary& summary = model.summary();
  Section section{"machines", "Machines", ""};
  if (summary.machines.size() < 2) return section;
  Table table{
      .caption = "Machines and how well each was trained",
      .columns = {{"Machine"}, {"Relative gap", true}, {"Support vectors", true}, {"Bias", true}, {"Status"}},
      .rows = {}};
  for (const MachineReport& machine : summary.machines) {
    const std::string name = machine.against.empty() ? machine.name : machine.name + " or " + machine.against;
    table.rows.push_back(
        {NameCell(name),
         {fmt::format("{:.2g}", machine.relative_gap), fmt::format("{:.9g}", machine.relative_gap)},
         {fmt::format("{}", machine.n_support), fmt::format("{}", machine.n_support)},
         NumberCell(machine.bias),
         {std::string(ToString(machine.status)), std::string(ToString(machine.status))}});
  }
  section.content = "<p>Each machine tells one class from the rest, or from another class.</p>" +
                    MachineMap(model).ToHtml() + table.ToHtml();
  return section;
}

Section ConvergenceSection(const Model& model) {
  const Summary& summary = model.summary();
  const PhaseSeconds& time = summary.seconds;
  std::string content = "<dl class=\"facts\">" + Fact("Status", Escape(ToString(summary.status))) +
                        Fact("Primal, an upper bound", fmt::format("{:.8g}", summary.primal)) +
                        Fact("Dual, a lower bound", fmt::format("{:.8g}", summary.dual)) +
                        Fact("Relative gap", fmt::format("{:.3g}", summary.relative_gap)) +
                        Fact("Moves of the weights", fmt::format("{}", summary.iterations)) +
                        Fact("Solves", fmt::format("{}", summary.solves)) +
                        Fact("Support vectors", fmt::format("{}", summary.n_support)) +
                        Fact("Seconds in all", fmt::format("{:.3g}", time.total)) +
                        Fact("Seconds solving", fmt::format("{:.3g}", time.solve)) +
                        Fact("Seconds certifying", fmt::format("{:.3g}", time.certificate));
  if (summary.leave_one_out) content += Fact("Leave-one-out estimate", Number(*summary.leave_one_out));
  const std::string bound = BoundChart(summary);
  content += "</dl><div class=\"charts\">" + GapChart(summary) + bound + "</div>";
  if (!bound.empty()) {
    content +=
        "<p class=\"note\">The second picture is a hint for the choice of the norm, not a score: the factor "
        "of a "
        "bound on the error of new samples, were the function learned the best there is.</p>";
  }
  return {"convergence", "Convergence", std::move(content)};
}

Section MethodSection(const Model& model, const std::string& reproduce) {
  const Summary& summary = model.summary();
  const ModelContent& content = model.content();
  std::string text =
      "<dl class=\"facts\">" + Fact("Loss", Escape(content.loss)) +
      Fact("C", Escape(OptionText(summary, "C"))) +
      Fact("Norm on the weights", Escape(OptionText(summary, "norm"))) +
      Fact("Normalisation", Escape(OptionText(summary, "normalize"))) +
      Fact("Method", Escape(OptionText(summary, "method"))) +
      Fact("Trained by", "Kweave " + Escape(content.version)) +
      Fact("Seed", fmt::format("{}", content.problem.seed)) +
      Fact("Threads", fmt::format("{}", summary.threads)) +
      Fact("Peak memory", fmt::format("{:.3g} MB", static_cast<double>(summary.peak_memory_bytes) * 1e-6)) +
      "</dl>";
  if (!reproduce.empty()) {
    std::string code;  // line by line, so that their ends survive
    for (std::size_t begin = 0; begin <= reproduce.size();) {
      const std::size_t end = std::min(reproduce.find('\n', begin), reproduce.size());
      code += Escape(std::string_view(reproduce).substr(begin, end - begin)) + "\n";
      begin = end + 1;
    }
    text += "<h3>To make this model again</h3><pre tabindex=\"0\">" + code + "</pre>";
  }
  Table table{.caption = "All options",
              .columns = {{"Option"}, {"Value"}},
              .rows = {},
              .rows_at_first = summary.options.size()};
  for (const auto& [name, literal] : summary.options) {
    if (name != "given") table.rows.push_back({NameCell(name), NameCell(literal)});
  }
  text += "<details><summary>All options</summary>" + table.ToHtml() + "</details>";
  return {"method", "Method", std::move(text)};
}

}  // namespace kweave::html
