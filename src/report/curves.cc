#include "report/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/intervals.h"

namespace kweave::html {
namespace {

constexpr std::size_t kMostPoints = 300;  // about one for each pixel of a chart

std::vector<std::size_t> Descending(std::span<const double> value) {
  std::vector<std::size_t> order(value.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return value[i]; });
  return order;
}

std::vector<ChartPoint> Thinned(const std::vector<ChartPoint>& points) {
  if (points.size() <= kMostPoints) return points;
  std::vector<ChartPoint> kept;
  const double step = static_cast<double>(points.size() - 1) / static_cast<double>(kMostPoints - 1);
  for (std::size_t k = 0; k < kMostPoints; ++k)
    kept.push_back(points[static_cast<std::size_t>(std::lround(static_cast<double>(k) * step))]);
  return kept;
}

}  // namespace

Curves FindCurves(const std::vector<bool>& is_positive, std::span<const double> value) {
  const auto positives = static_cast<double>(std::ranges::count(is_positive, true));
  const double negatives = static_cast<double>(is_positive.size()) - positives;
  if (positives == 0 || negatives == 0) return {};
  Curves curves;
  curves.roc.push_back({0, 0, "nothing is predicted"});
  double hits = 0, alarms = 0;
  const std::vector<std::size_t> order = Descending(value);
  for (std::size_t k = 0; k < order.size(); ++k) {
    ++(is_positive[order[k]] ? hits : alarms);
    if (k + 1 < order.size() && value[order[k + 1]] == value[order[k]]) continue;
    const double threshold = value[order[k]], recall = hits / positives, precision = hits / (hits + alarms);
    curves.roc.push_back({alarms / negatives, recall,
                          fmt::format("f at least {:.3g}: true positives {:.3f}, false positives {:.3f}",
                                      threshold, recall, alarms / negatives)});
    curves.precision_recall.push_back(
        {recall, precision,
         fmt::format("f at least {:.3g}: recall {:.3f}, precision {:.3f}", threshold, recall, precision)});
  }
  curves.roc = Thinned(curves.roc);
  curves.precision_recall = Thinned(curves.precision_recall);
  return curves;
}

std::vector<CalibrationBin> CalibrationBins(const std::vector<bool>& is_positive,
                                            std::span<const double> probability) {
  constexpr std::size_t kBins = 10;     // as is usual; a hundred samples give ten each
  constexpr double kConfidence = 0.95;  // as the legend says
  std::vector<std::size_t> order = Descending(probability);
  std::ranges::reverse(order);
  std::vector<CalibrationBin> bins;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = std::max(begin + 1, (bins.size() + 1) * order.size() / kBins);
    while (end < order.size() && probability[order[end]] == probability[order[end - 1]]) ++end;
    CalibrationBin bin;
    double hits = 0;
    for (std::size_t k = begin; k < end; ++k) {
      bin.mean_probability += probability[order[k]];
      hits += is_positive[order[k]] ? 1 : 0;
    }
    bin.count = end - begin;
    const auto count = static_cast<double>(bin.count);
    bin.mean_probability /= count;
    bin.share = hits / count;
    const ConfidenceInterval interval = WilsonInterval(hits, count, kConfidence);
    bin.lower = interval.lower, bin.upper = interval.upper;
    bins.push_back(bin);
    begin = end;
  }
  return bins;
}

}  // namespace kweave::html
