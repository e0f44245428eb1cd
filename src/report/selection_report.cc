// The page about a selection: scores over the grid, baselines, nested folds, permutations, and how stable the
// weights are over the folds; then what the page about its model says of training.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kweave/report.h"
#include "kweave/select.h"
#include "kweave/version.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/model_sections.h"
#include "report/page.h"

namespace kweave::html {
namespace {

constexpr std::size_t kMostStable = 500;  // kernels of a table: a few hundred kilobytes of page
constexpr double kBins = 20;              // of the histogram: as many as its width shows apart

// JSON without its quotation marks.
std::string Plain(std::string text) {
  std::erase(text, '"');
  return text;
}

std::string ScoreText(double score, const std::optional<double>& error) {
  return error ? fmt::format("{:.4g} ± {:.2g}", score, *error) : fmt::format("{:.4g}", score);
}

std::string ValuesText(const PointValues& values) {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, Plain(value));
  return text.empty() ? "the only point" : text;
}

const ScoredPoint& ChosenOf(const Selection& found) {
  return found.points.at(static_cast<std::size_t>(*found.chosen));
}

std::string ChoiceSentence(const Selection& found) {
  const ScoredPoint& chosen = ChosenOf(found);
  return fmt::format("Of {}, <strong>{}</strong> was chosen: mean {} {} over {}.",
                     Count(static_cast<Index>(found.points.size()), "point"),
                     Escape(ValuesText(chosen.values)), Escape(found.score),
                     Escape(ScoreText(chosen.score, chosen.error)), Count(found.folds, "fold"));
}

// How far to believe the score.
std::string TrustSentence(const Selection& found) {
  std::string text;
  if (found.nested) {
    text += fmt::format("On samples that no choice has seen the procedure scores {}. ",
                        Escape(ScoreText(found.nested->score, found.nested->error)));
  } else {
    text += "It is the best of many, and so too good; nested folds say how good the procedure is. ";
  }
  if (found.permutation) {
    text += fmt::format("With permuted labels it does as well with probability {:.3g}. ",
                        found.permutation->p_value);
  }
  for (const Baseline& baseline : found.baselines) {
    if (baseline.name == "uniform")
      text += fmt::format("The uniform sum of all kernels has {}.",
                          Escape(ScoreText(baseline.best.score, baseline.best.error)));
  }
  return text;
}

// Values of an axis in the order in which they first occur.
std::vector<std::string> AxisValues(const Selection& found, std::size_t axis) {
  std::vector<std::string> values;
  for (const ScoredPoint& point : found.points) {
    const std::string& value = point.values[axis].second;
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return values;
}

// Scores over two axes, at the values chosen of all others; cells are shaded by where they are between the
// worst and the best.
std::string ScoreMap(const Selection& found, std::size_t row_axis, std::size_t column_axis) {
  const ScoredPoint& chosen = ChosenOf(found);
  const std::vector<std::string> rows = AxisValues(found, row_axis), columns = AxisValues(found, column_axis);
  HeatMap map;
  map.caption = fmt::format("Mean {} over {} and {}", found.score, chosen.values[row_axis].first,
                            chosen.values[column_axis].first);
  map.corner = fmt::format("{} \\ {}", Escape(chosen.values[row_axis].first),
                           Escape(chosen.values[column_axis].first));
  for (const std::string& value : rows) map.rows.push_back(Plain(value));
  for (const std::string& value : columns) map.columns.push_back(Plain(value));
  double low = chosen.score, high = chosen.score;
  for (const ScoredPoint& point : found.points)
    low = std::min(low, point.score), high = std::max(high, point.score);
  for (const std::string& row : rows) {
    for (const std::string& column : columns) {
      const auto point = std::ranges::find_if(found.points, [&](const ScoredPoint& one) {
        for (std::size_t a = 0; a < one.values.size(); ++a) {
          const std::string& wanted = a == row_axis      ? row
                                      : a == column_axis ? column
                                                         : chosen.values[a].second;
          if (one.values[a].second != wanted) return false;
        }
        return true;
      });
      const double score = point == found.points.end() ? low : point->score;
      const double share = high > low ? (score - low) / (high - low) : 1;
      map.values.push_back(found.is_loss ? 1 - share : share);
      map.texts.push_back(
          fmt::format("{:.4g}{}", score, point != found.points.end() && &*point == &chosen ? " *" : ""));
    }
  }
  return map.ToHtml();
}

std::string ScoreChart(const Selection& found, std::size_t axis) {
  std::vector<ChartPoint> points;
  std::vector<double> x, y;
  bool is_positive = true;
  for (const ScoredPoint& point : found.points) {
    const double value = std::strtod(Plain(point.values[axis].second).c_str(), nullptr);
    if (!std::isfinite(value)) continue;
    is_positive = is_positive && value > 0;
    const double error = point.error.value_or(0);
    points.push_back(
        {value, point.score, ValuesText(point.values) + ": " + ScoreText(point.score, point.error)});
    x.push_back(value);
    y.insert(y.end(), {point.score - error, point.score + error});
  }
  const std::string& name = found.points[0].values[axis].first;
  Chart chart(fmt::format("Mean {} against {}", found.score, name), AxisOver(name, x, is_positive),
              AxisOver(found.score, y));
  chart.AddLine(1, "mean over the folds", points);
  for (std::size_t k = 0; k < points.size(); ++k) chart.AddWhisker(1, x[k], y[2 * k], y[2 * k + 1]);
  return chart.ToHtml(fmt::format("{} against {}", found.score, name));
}

Table PointTable(const Selection& found) {
  Table table{"All points of the grid", {}, {}};
  for (const auto& [name, value] : found.points[0].values) table.columns.push_back({Escape(name), false, ""});
  table.columns.push_back({Escape(found.score), true, "mean over the folds"});
  table.columns.push_back({"standard error", true, "of the mean, by the deviation over the folds"});
  table.columns.push_back({"kernels", true, "mean number of kernels with a weight"});
  for (const ScoredPoint& point : found.points) {
    std::vector<Cell> row;
    for (const auto& [name, value] : point.values) row.push_back(NameCell(Plain(value)));
    row.push_back(NumberCell(point.score));
    row.push_back(NumberCell(point.error.value_or(std::nan(""))));
    row.push_back(NumberCell(point.kernels_active));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Section GridSection(const Selection& found) {
  Section section{"grid", "Scores over the grid", ""};
  std::vector<std::size_t> axes;
  for (std::size_t a = 0; a < found.points[0].values.size(); ++a) {
    if (AxisValues(found, a).size() > 1) axes.push_back(a);
  }
  std::ranges::stable_sort(axes, std::greater{}, [&](std::size_t a) { return AxisValues(found, a).size(); });
  if (axes.size() >= 2) {
    section.content += ScoreMap(found, axes[0], axes[1]);
    section.content +=
        fmt::format("<p class=\"note\">Darker is better; * is the point chosen ({}).{}</p>",
                    Escape(found.rule), axes.size() > 2 ? " All other options are as chosen." : "");
  } else if (axes.size() == 1) {
    section.content += ScoreChart(found, axes[0]);
  }
  section.content += PointTable(found).ToHtml();
  return section;
}

Section BaselineSection(const Selection& found) {
  Table table{"The point chosen and baselines on the same folds",
              {{"what", false, ""},
               {Escape(found.score), true, "mean over the folds"},
               {"standard error", true, ""},
               {"at", false, "its options"}},
              {}};
  const auto add = [&table](const std::string& what, const ScoredPoint& point) {
    table.rows.push_back({NameCell(what), NumberCell(point.score),
                          NumberCell(point.error.value_or(std::nan(""))),
                          NameCell(point.values.empty() ? "" : ValuesText(point.values))});
  };
  add("the point chosen", ChosenOf(found));
  if (found.nested) {
    add("the whole procedure, on nested folds", {{}, found.nested->score, found.nested->error, {}, 0, 0});
  }
  for (const Baseline& baseline : found.baselines) add(baseline.sentence, baseline.best);
  return {"baselines", "Against baselines", table.rows.size() > 1 ? table.ToHtml() : ""};
}

Section StabilitySection(const Selection& found) {
  Table table{"Share of every kernel in the sum of the weights, over the folds",
              {{"kernel", false, ""},
               {"mean share", true, "over the folds"},
               {"deviation", true, "over the folds"},
               {"in folds", true, "share of the folds in which it has a weight"},
               {"least to most", false, "over the folds", true}},
              {}};
  for (const KernelStability& kernel : found.stability) {
    if (table.rows.size() == kMostStable) break;
    const auto [least, most] = std::ranges::minmax(kernel.shares);
    table.rows.push_back(
        {NameCell(kernel.name),
         PercentCell(kernel.mean),
         PercentCell(kernel.deviation),
         PercentCell(kernel.active),
         {Bar(kernel.mean, WeightInterval{least, most}, 1), fmt::format("{}", kernel.mean)}});
  }
  return {"stability", "Spread of the weights over the folds", table.rows.empty() ? "" : table.ToHtml()};
}

Section PermutationSection(const Selection& found) {
  if (!found.permutation) return {};
  const PermutationResult& test = *found.permutation;
  std::vector<double> all = test.scores;
  all.push_back(test.observed);
  const Axis x = AxisOver(found.score, all);
  const double width = (x.high - x.low) / kBins;
  std::vector<ChartPoint> bars;
  double highest = 1;
  for (double begin = x.low; begin < x.high - width / 2; begin += width) {
    const auto count = static_cast<double>(std::ranges::count_if(
        test.scores, [&](double score) { return score >= begin && score < begin + width; }));
    highest = std::max(highest, count);
    if (count > 0)
      bars.push_back(
          {begin + width / 2, count, fmt::format("{:.3g} to {:.3g}: {:.0f}", begin, begin + width, count)});
  }
  Chart chart("Histogram of scores with permuted labels", x, {"permutations", 0, highest * 1.05});
  chart.AddBars(1, "permuted labels", bars, width);
  chart.AddGuide("labels as they are", test.observed, 0, test.observed, highest * 1.05);
  return {"permutation", "Permutation test",
          chart.ToHtml("Scores with permuted labels") +
              fmt::format("<p>{} of the whole procedure, choice included: p = {:.4g}.</p>",
                          Count(static_cast<Index>(test.scores.size()), "permutation"), test.p_value)};
}

}  // namespace
}  // namespace kweave::html

namespace kweave {

std::string SelectionReport(const Selection& found, const ReportOptions& options) {
  html::Page page;
  page.title = options.title.empty() ? "Kweave selection" : options.title;
  page.about =
      fmt::format("{}, {} ({}), {}.", html::Count(found.samples, "sample"), html::Count(found.folds, "fold"),
                  html::Escape(found.split), html::Count(static_cast<Index>(found.points.size()), "point"));
  page.answer = {html::ChoiceSentence(found), html::TrustSentence(found)};
  std::vector<html::Section> sections = {html::GridSection(found), html::BaselineSection(found),
                                         html::StabilitySection(found), html::PermutationSection(found)};
  if (found.model) {
    page.answer.insert(page.answer.begin() + 1, html::ImportanceSentence(*found.model));
    sections.push_back(html::SourceSection(*found.model));
    sections.push_back(html::KernelSection(*found.model, {}));
    sections.push_back(html::MachineSection(*found.model));
    sections.push_back(html::ConvergenceSection(*found.model));
    sections.push_back(html::MethodSection(*found.model, options.reproduce));
  }
  for (html::Section& section : sections) {
    if (!section.content.empty()) page.sections.push_back(std::move(section));
  }
  page.footer = fmt::format(
      "<p>Made by Kweave {}. This page is one file and loads nothing from elsewhere.</p>", KWEAVE_VERSION);
  return page.ToHtml();
}

}  // namespace kweave
