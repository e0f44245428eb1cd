#include "report/score_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "model/content.h"
#include "report/chart.h"
#include "report/curves.h"
#include "report/html.h"

namespace kweave::html {
namespace {

constexpr std::size_t kMostCurves = 6;     // lines in one chart: as many as have a colour and a dash
constexpr std::size_t kMostCells = 30;     // rows and columns of a map that one can still read
constexpr std::size_t kMostDots = 1500;    // more hide each other
constexpr std::size_t kMostSamples = 500;  // rows of the table of samples
constexpr std::size_t kMostSources = 8;    // columns of that table
constexpr Index kMostMachines = 20;        // each takes a pass over the kernels

// Names of scores for people.
std::string Title(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTitles = {
      {{"accuracy", "Accuracy"},
       {"balanced_accuracy", "Balanced accuracy"},
       {"auc", "Area under ROC"},
       {"average_precision", "Average precision"},
       {"mcc", "Matthews correlation"},
       {"mean_mcc", "Mean Matthews correlation"},
       {"f1", "F1"},
       {"log_loss", "Log loss"},
       {"brier", "Brier score"},
       {"rmse", "Root mean square error"},
       {"mae", "Mean absolute error"},
       {"r2", "R²"}}};
  for (const auto& [known, title] : kTitles) {
    if (known == name) return std::string(title);
  }
  std::string text(name);
  std::ranges::replace(text, '_', ' ');
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

const EvaluatedScore* Find(const std::vector<EvaluatedScore>& scores, std::string_view name) {
  const auto at = std::ranges::find(scores, name, &EvaluatedScore::name);
  return at == scores.end() ? nullptr : &*at;
}

bool IsShare(const EvaluatedScore& score) {
  return score.name != "rmse" && score.name != "mae" && score.name != "log_loss" && score.name != "brier";
}

std::string ScoreTable(const ScoreReport& evaluation) {
  Table table{.caption = "Scores with confidence intervals",
              .columns = {{"Score"},
                          {"Value", true},
                          {.title = "0 to 1", .is_wide = true},
                          {fmt::format("{:g} % interval", 100 * evaluation.confidence), true},
                          {"Method"}},
              .rows = {}};
  for (const EvaluatedScore& score : evaluation.scores) {
    const bool has_interval = !score.method.empty();
    const auto interval =
        has_interval ? std::optional(WeightInterval{score.lower, score.upper}) : std::nullopt;
    table.rows.push_back(
        {NameCell(Title(score.name)),
         NumberCell(score.value),
         {IsShare(score) ? Bar(score.value, interval, 1) : "", fmt::format("{:.9g}", score.value)},
         {has_interval ? fmt::format("{:.4g} to {:.4g}", score.lower, score.upper) : "–",
          fmt::format("{:.9g}", score.lower)},
         NameCell(score.method)});
  }
  std::string text = table.ToHtml();
  if (evaluation.baseline) {
    text +=
        fmt::format("<p class=\"note\">For comparison: {} for every sample has {} {:.4g}.</p>",
                    evaluation.baseline->name == "rmse" ? "the mean" : "the most frequent class",
                    evaluation.baseline->name == "rmse" ? "a root mean square error of" : "an accuracy of",
                    evaluation.baseline->value);
  }
  return text;
}

std::string ClassTable(const ScoreReport& evaluation) {
  if (evaluation.classes.empty()) return {};
  constexpr std::array<const char*, 5> kNames = {"recall", "precision", "f1", "auc", "average_precision"};
  Table table{.caption = "Scores of every class", .columns = {{"Class"}, {"Samples", true}}, .rows = {}};
  for (const char* name : kNames) table.columns.push_back({Title(name), true});
  for (const EvaluatedClass& one : evaluation.classes) {
    std::vector<Cell> row{NameCell(one.name),
                          {fmt::format("{}", one.samples), fmt::format("{}", one.samples)}};
    for (const char* name : kNames) {
      const EvaluatedScore* score = Find(one.scores, name);
      row.push_back(score == nullptr ? Cell{"–", "nan"}
                    : score->method.empty()
                        ? Cell{fmt::format("{:.3f}", score->value), fmt::format("{:.9g}", score->value)}
                        : Cell{fmt::format("{:.3f}<br><small>{:.2f} to {:.2f}</small>", score->value,
                                           score->lower, score->upper),
                               fmt::format("{:.9g}", score->value)});
    }
    table.rows.push_back(std::move(row));
  }
  return "<h3>Classes</h3>" + table.ToHtml();
}

std::string ConfusionMap(const ScoreReport& evaluation) {
  const std::size_t columns = evaluation.confusion.empty() ? 0 : evaluation.confusion.front().size();
  if (columns == 0 || columns > kMostCells || evaluation.confusion.size() > kMostCells) return {};
  HeatMap map;
  map.caption = "Samples of each class (row) by the class predicted (column)";
  map.corner = "true \\ predicted";
  for (std::size_t r = 0; r < evaluation.confusion.size(); ++r) {
    const std::vector<Index>& row = evaluation.confusion[r];
    map.rows.push_back(evaluation.confusion_rows[r].empty() ? "(no label)" : evaluation.confusion_rows[r]);
    if (r < columns) map.columns.push_back(evaluation.confusion_rows[r]);
    const double total =
        std::max(static_cast<double>(std::accumulate(row.begin(), row.end(), Index{0})), 1.0);
    for (const Index count : row) {
      map.values.push_back(static_cast<double>(count) / total);
      map.texts.push_back(fmt::format("{}", count));
    }
  }
  return "<h3>Confusion</h3>" + map.ToHtml() +
         "<p class=\"note\">Rows: true classes. Columns: predicted. Colour: share of the row.</p>";
}

// Who belongs to a class, and the values it is predicted by.
struct ClassView {
  std::string name;
  std::vector<bool> is_own;
  std::vector<double> value, probability;
};

// Of two classes the second; of more those with most samples.
std::vector<ClassView> ClassViews(const Model& model, const Dataset& data, const ScoreReport& evaluation) {
  const Prediction& prediction = evaluation.prediction;
  const Index width = model.outputs();
  std::vector<ClassView> views;
  if (evaluation.plain.scores) {
    std::vector<bool> is_own = model.task() == Task::kOneClass
                                   ? InlierLabels(data.labels)
                                   : PositiveLabels(data.labels, model.classes(), nullptr);
    views.push_back({model.classes()[1], std::move(is_own), prediction.decision, prediction.probability});
    return views;
  }
  if (width < 2) return views;
  const std::vector<std::vector<Index>> truth = TrueClasses(data.labels, model.classes(), nullptr);
  std::vector<Index> order(static_cast<std::size_t>(width));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, std::greater{}, [&](Index u) { return evaluation.classes[u].samples; });
  order.resize(std::min(order.size(), kMostCurves));
  std::ranges::sort(order);
  for (const Index u : order) {
    ClassView& view = views.emplace_back(ClassView{model.classes()[u], {}, {}, {}});
    for (std::size_t i = 0; i < truth.size(); ++i) {
      view.is_own.push_back(std::ranges::find(truth[i], u) != truth[i].end());
      view.value.push_back(prediction.decision[i * width + u]);
      if (!prediction.probability.empty()) view.probability.push_back(prediction.probability[i * width + u]);
    }
  }
  return views;
}

std::string CurveCharts(const std::vector<ClassView>& views, const ScoreReport& evaluation) {
  Chart roc("ROC curve: true positive rate against false positive rate", {"false positive rate"},
            {"true positive rate"});
  Chart recall("Precision against recall", {"recall"}, {"precision"});
  roc.AddGuide("chance", 0, 0, 1, 1);
  bool has_curve = false;
  for (std::size_t k = 0; k < views.size(); ++k) {
    const Curves curves = FindCurves(views[k].is_own, views[k].value);
    if (curves.roc.empty()) continue;
    has_curve = true;
    const EvaluatedClass* own = nullptr;
    for (const EvaluatedClass& one : evaluation.classes) {
      if (one.name == views[k].name) own = &one;
    }
    const auto named = [&](const char* score) {
      const EvaluatedScore* found = own == nullptr ? nullptr : Find(own->scores, score);
      return found == nullptr ? views[k].name : fmt::format("{} ({:.3f})", views[k].name, found->value);
    };
    roc.AddLine(static_cast<int>(k) + 1, named("auc"), curves.roc, false);
    recall.AddLine(static_cast<int>(k) + 1, named("average_precision"), curves.precision_recall, false);
  }
  if (!has_curve) return {};
  return roc.ToHtml("ROC (area)") + recall.ToHtml("Precision and recall (average precision)");
}

std::string CalibrationChart(const std::vector<ClassView>& views) {
  std::vector<bool> is_own;
  std::vector<double> probability;
  for (const ClassView& view : views) {
    is_own.insert(is_own.end(), view.is_own.begin(), view.is_own.end());
    probability.insert(probability.end(), view.probability.begin(), view.probability.end());
  }
  if (probability.empty() || probability.size() != is_own.size()) return {};
  Chart chart("Calibration: how often a class is true against the probability predicted for it",
              {"predicted probability"}, {"share that is true"});
  chart.AddGuide("perfect", 0, 0, 1, 1);
  std::vector<ChartPoint> points;
  for (const CalibrationBin& bin : CalibrationBins(is_own, probability)) {
    chart.AddWhisker(1, bin.mean_probability, bin.lower, bin.upper);
    points.push_back({bin.mean_probability, bin.share,
                      fmt::format("predicted {:.3f}, true {:.3f} ({:.2f} to {:.2f}) of {}",
                                  bin.mean_probability, bin.share, bin.lower, bin.upper, bin.count)});
  }
  chart.AddLine(1, "ten bins, 95 % intervals", points);
  return chart.ToHtml("Calibration");
}

std::string DecisionChart(const ClassView& view, const std::string& first_name) {
  const Axis x = AxisOver("f(x)", view.value);
  constexpr int kBins = 24;  // bars as wide as a finger on a phone
  const double width = (x.high - x.low) / kBins;
  std::array<std::vector<ChartPoint>, 2> bars;
  double most = 0;
  for (int side = 0; side < 2; ++side) {
    std::array<double, kBins> counts{};
    for (std::size_t i = 0; i < view.value.size(); ++i) {
      if (view.is_own[i] == (side == 1))
        ++counts[std::clamp(static_cast<int>((view.value[i] - x.low) / width), 0, kBins - 1)];
    }
    for (int b = 0; b < kBins; ++b) {
      if (counts[b] == 0) continue;
      most = std::max(most, counts[b]);
      const double middle = x.low + (b + 0.5) * width;
      bars[side].push_back({middle, counts[b],
                            fmt::format("{}: {} samples with f about {:.3g}",
                                        side == 1 ? view.name : first_name, counts[b], middle)});
    }
  }
  Chart chart("Histogram of the values of both classes", x, {"samples", 0, 1.05 * most});
  chart.AddBars(2, first_name, bars[0], width);
  chart.AddBars(1, view.name, bars[1], width);
  if (x.low < 0 && x.high > 0) chart.AddGuide("threshold", 0, 0, 0, 1.05 * most);
  return chart.ToHtml("Values of f");
}

std::string RegressionCharts(const std::vector<double>& targets, const std::vector<double>& predicted) {
  std::vector<ChartPoint> fit, residual;
  std::vector<double> errors;
  const std::size_t step = targets.size() / kMostDots + 1;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    errors.push_back(targets[i] - predicted[i]);
    if (i % step != 0) continue;
    const std::string tip = fmt::format("sample {}: true {:.4g}, predicted {:.4g}, residual {:.3g}", i + 1,
                                        targets[i], predicted[i], errors[i]);
    fit.push_back({predicted[i], targets[i], tip});
    residual.push_back({predicted[i], errors[i], tip});
  }
  std::vector<double> both = targets;
  both.insert(both.end(), predicted.begin(), predicted.end());
  Axis x = AxisOver("predicted", both), y = x;
  y.title = "true";
  Chart first("True against predicted values", x, y);
  first.AddGuide("equal", x.low, x.low, x.high, x.high);
  first.AddDots(1, "", fit);
  const Axis own = AxisOver("predicted", predicted), error = AxisOver("true - predicted", errors);
  Chart second("Residuals against predicted values", own, error);
  if (error.low < 0 && error.high > 0) second.AddGuide("", own.low, 0, own.high, 0);
  second.AddDots(1, "", residual);
  return first.ToHtml("Predicted and true") + second.ToHtml("Residuals");
}

// The function of one machine by source: row after row, one per sample.
struct SourceParts {
  std::vector<std::string> sources;
  std::vector<double> parts;
};

SourceParts PartsBySource(const Model& model, const Dataset& data, const PredictOptions& options,
                          const Context& context, Index machine) {
  const ModelContent& content = model.content();
  SourceParts found;
  std::vector<std::size_t> place;
  for (Index m = 0; m < content.kernels.size(); ++m) {
    const std::string source = content.kernels.Source(m);
    const auto at = std::ranges::find(found.sources, source);
    place.push_back(static_cast<std::size_t>(at - found.sources.begin()));
    if (at == found.sources.end()) found.sources.push_back(source);
  }
  const std::vector<double> values = model.PredictByKernel(data, context, options, machine);
  const std::size_t kernels = place.size(), width = found.sources.size();
  if (kernels == 0) return found;
  found.parts.assign(values.size() / kernels * width, 0.0);
  for (std::size_t k = 0; k < values.size(); ++k)
    found.parts[k / kernels * width + place[k % kernels]] += values[k];
  // Less their means: the Shapley values of a sum.
  const std::size_t samples = found.parts.size() / width;
  for (std::size_t s = 0; s < width; ++s) {
    double mean = 0;
    for (std::size_t i = 0; i < samples; ++i)
      mean += found.parts[i * width + s] / static_cast<double>(samples);
    for (std::size_t i = 0; i < samples; ++i) found.parts[i * width + s] -= mean;
  }
  return found;
}

double MeanAbsolute(const SourceParts& found, std::size_t source) {
  const std::size_t width = found.sources.size(), samples = found.parts.size() / width;
  double sum = 0;
  for (std::size_t i = 0; i < samples; ++i) sum += std::abs(found.parts[i * width + source]);
  return samples > 0 ? sum / static_cast<double>(samples) : 0;
}

std::string SourceContributions(const SourceParts& found) {
  Table table{.caption = "How much each source moves the predictions",
              .columns = {{"Source"},
                          {"Mean size", true, "mean absolute contribution to f"},
                          {.title = "0 to the largest", .is_wide = true}},
              .rows = {}};
  double most = 0;
  for (std::size_t s = 0; s < found.sources.size(); ++s) most = std::max(most, MeanAbsolute(found, s));
  for (std::size_t s = 0; s < found.sources.size(); ++s) {
    const double size = MeanAbsolute(found, s);
    table.rows.push_back({NameCell(found.sources[s]),
                          NumberCell(size),
                          {Bar(size, std::nullopt, most), fmt::format("{:.9g}", size)}});
  }
  return table.ToHtml();
}

Cell LabelCell(const Labels& labels, std::size_t i) {
  if (labels.empty()) return {};
  return labels.is_numeric() ? NumberCell(labels.number[i]) : NameCell(labels.text[i]);
}

std::string SampleTable(const Dataset& data, const Prediction& prediction, const SourceParts& found) {
  const std::size_t width = found.sources.size(), samples = found.parts.size() / width;
  std::vector<std::size_t> order(width);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t s) { return MeanAbsolute(found, s); });
  order.resize(std::min(order.size(), kMostSources));
  double most = 0;
  for (const double part : found.parts) most = std::max(most, std::abs(part));
  Table table{.caption = "Contributions of the sources to each sample",
              .columns = {{"Sample"}, {"True"}, {"f", true}},
              .rows = {},
              .rows_at_first = 10};
  for (const std::size_t s : order) table.columns.push_back({Name(found.sources[s]), true});
  for (std::size_t i = 0; i < std::min(samples, kMostSamples); ++i) {
    std::vector<Cell> row{
        NameCell(data.ids.empty() ? fmt::format("{}", data.numbering.Sample(static_cast<Index>(i)))
                                  : data.ids[i]),
        LabelCell(data.labels, i), NumberCell(prediction.decision[i])};
    for (const std::size_t s : order) {
      const double part = found.parts[i * width + s];
      const double half = most > 0 ? 50 * std::abs(part) / most : 0;
      row.push_back({fmt::format("{:+.3g}<span class=\"both\" aria-hidden=\"true\"><i class=\"{}\" "
                                 "style=\"left:{:.1f}%;width:{:.1f}%\"></i></span>",
                                 part, part < 0 ? "down" : "up", part < 0 ? 50 - half : 50, half),
                     fmt::format("{:.9g}", part)});
    }
    table.rows.push_back(std::move(row));
  }
  return table.ToHtml() +
         (samples > kMostSamples
              ? fmt::format("<p class=\"note\">The first {} of {} samples.</p>", kMostSamples, samples)
              : "");
}

}  // namespace

std::string ScoreSentence(const ScoreReport& evaluation) {
  if (const EvaluatedScore* accuracy = Find(evaluation.scores, "accuracy");
      accuracy != nullptr && !evaluation.plain.outlier_fraction) {
    return fmt::format("On {} the model is right for <strong>{}</strong> ({:g} % interval: {}){}.",
                       Count(evaluation.samples, "sample"), Percent(accuracy->value),
                       100 * evaluation.confidence, PercentRange({accuracy->lower, accuracy->upper}),
                       evaluation.baseline ? fmt::format("; the most frequent class alone would be for {}",
                                                         Percent(evaluation.baseline->value))
                                           : "");
  }
  if (const EvaluatedScore* r2 = Find(evaluation.scores, "r2")) {
    return fmt::format("On {} the model explains <strong>{}</strong> of the variance{}.",
                       Count(evaluation.samples, "sample"), Percent(r2->value),
                       r2->method.empty() ? ""
                                          : fmt::format(" ({:g} % interval: {})", 100 * evaluation.confidence,
                                                        PercentRange({r2->lower, r2->upper})));
  }
  if (const EvaluatedScore* area = Find(evaluation.scores, "auc"))
    return fmt::format(
        "On {} outliers are told from the rest with an area under the ROC curve of <strong>{:.3f}</strong> "
        "({:.3f} to {:.3f}).",
        Count(evaluation.samples, "sample"), area->value, area->lower, area->upper);
  return {};
}

Section ScoreSection(const Model& model, const Dataset& data, const ScoreReport& evaluation) {
  std::string charts;
  if (evaluation.plain.regression) {
    charts = RegressionCharts(data.labels.number, evaluation.prediction.decision);
  } else {
    const std::vector<ClassView> views = ClassViews(model, data, evaluation);
    charts = CurveCharts(views, evaluation) + CalibrationChart(views);
    if (evaluation.plain.scores) charts += DecisionChart(views.front(), model.classes()[0]);
  }
  return {"scores", "Scores",
          fmt::format("<p>{} that the model was not trained on, as given for this page.</p>",
                      Count(evaluation.samples, "sample")) +
              ScoreTable(evaluation) + "<div class=\"charts\">" + charts + "</div>" +
              ConfusionMap(evaluation) + ClassTable(evaluation)};
}

Section ContributionSection(const Model& model, const Dataset& data, const PredictOptions& options,
                            const Prediction& prediction, const Context& context) {
  Section section{"contributions", "Contributions", ""};
  const ModelContent& content = model.content();
  if (content.summary.projected_gradient || content.kernels.size() == 0 || !content.pairs.kernels.empty())
    return section;
  if (model.machines() == 1) {
    const SourceParts found = PartsBySource(model, data, options, context, 0);
    section.content =
        "<p>f is a sum over sources. What each adds to the prediction of a sample, less its mean over these "
        "samples, is its "
        "Shapley value.</p>" +
        SourceContributions(found) + "<h3>By sample</h3>" + SampleTable(data, prediction, found);
    return section;
  }
  if (model.machines() != model.outputs() || model.machines() > kMostMachines) return section;
  HeatMap map;
  map.caption = "Mean absolute contribution of each source to the value of each class";
  map.corner = "class";
  map.rows = model.classes();
  for (Index k = 0; k < model.machines(); ++k) {
    const SourceParts found = PartsBySource(model, data, options, context, k);
    map.columns = found.sources;
    for (std::size_t s = 0; s < found.sources.size(); ++s) map.values.push_back(MeanAbsolute(found, s));
  }
  for (const double value : map.values) map.texts.push_back(fmt::format("{:.2g}", value));
  const double most = std::max(*std::ranges::max_element(map.values), std::numeric_limits<double>::min());
  for (double& value : map.values) value /= most;
  section.content =
      "<p>What each source adds to the value of a class, less its mean over these samples (its Shapley "
      "value): mean size.</p>" +
      map.ToHtml();
  return section;
}

Section AlignmentSection(const KernelAnalysis& analysis, Index samples) {
  Section section{"alignments", "Alignments", ""};
  if (analysis.kernels.size() < 2) return section;
  HeatMap map;
  map.caption = "Centred alignments between the heaviest kernels";
  map.is_signed = true;
  for (const AnalyzedKernel& kernel : analysis.kernels) map.rows.push_back(kernel.name);
  map.columns = map.rows;
  map.values = analysis.centered_alignment;
  section.content = fmt::format(
                        "<p>How alike the {} heaviest kernels are on {}: 1 means that they say the same, so "
                        "that weight can move "
                        "between them.</p>",
                        analysis.kernels.size(), Count(samples, "sample")) +
                    map.ToHtml();
  return section;
}

}  // namespace kweave::html
