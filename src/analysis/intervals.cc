#include "analysis/intervals.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/random.h"

namespace kweave {
namespace {

// Ranks from 1, equal values sharing their mean.
std::vector<double> MidRanks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::less{}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t k = begin; k < end; ++k) ranks[order[k]] = 0.5 * static_cast<double>(begin + end + 1);
    begin = end;
  }
  return ranks;
}

struct Moments {
  double mean = 0;
  double variance = 0;  ///< of one value, by n - 1; 0 of one value
};

Moments MomentsOf(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  Moments found{std::accumulate(values.begin(), values.end(), 0.0) / n, 0};
  for (const double value : values)
    found.variance += (value - found.mean) * (value - found.mean) / std::max(n - 1, 1.0);
  return found;
}

// The value below which the given share of sorted values lies, between neighbours by interpolation.
double Percentile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double NormalQuantile(double confidence) {
  double low = 0, high = 40;                              // beyond it the tail is below the smallest double
  for (int step = 0; step < 200 && low < high; ++step) {  // halves until neighbours meet
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (std::erfc(middle / std::numbers::sqrt2) > 1 - confidence ? low : high) = middle;
  }
  return high;
}

ConfidenceInterval WilsonInterval(double hits, double count, double confidence) {
  const double z = NormalQuantile(confidence), square = z * z, share = hits / count;
  const double middle = (share + square / (2 * count)) / (1 + square / count);
  const double half =
      z / (1 + square / count) * std::sqrt(share * (1 - share) / count + square / (4 * count * count));
  return {hits == 0 ? 0 : std::max(middle - half, 0.0), hits == count ? 1 : std::min(middle + half, 1.0)};
}

std::optional<ConfidenceInterval> FisherInterval(double r, Index count, double confidence) {
  if (count <= 3 || !(std::abs(r) < 1)) return std::nullopt;
  const double half = NormalQuantile(confidence) / std::sqrt(static_cast<double>(count - 3));
  return ConfidenceInterval{std::tanh(std::atanh(r) - half), std::tanh(std::atanh(r) + half)};
}

std::optional<ConfidenceInterval> DelongInterval(const std::vector<bool>& is_positive,
                                                 std::span<const double> decision, double confidence) {
  std::vector<double> positive, negative;
  for (std::size_t i = 0; i < decision.size(); ++i)
    (is_positive[i] ? positive : negative).push_back(decision[i]);
  if (positive.empty() || negative.empty()) return std::nullopt;
  const std::vector<double> all = MidRanks(decision), among_positive = MidRanks(positive),
                            among_negative = MidRanks(negative);
  const auto m = static_cast<double>(positive.size()), n = static_cast<double>(negative.size());
  // Shares of the other class on the right side of each sample.
  std::vector<double> of_positive, of_negative;
  for (std::size_t i = 0; i < decision.size(); ++i) {
    if (is_positive[i]) of_positive.push_back((all[i] - among_positive[of_positive.size()]) / n);
    if (!is_positive[i]) of_negative.push_back(1 - (all[i] - among_negative[of_negative.size()]) / m);
  }
  const Moments first = MomentsOf(of_positive), second = MomentsOf(of_negative);
  const double area = first.mean;
  const double tail = (1 - confidence) / 2;
  if (area >= 1 || area <= 0) {
    // min(m, n) pairs of samples of their own are in the right order, each with the probability asked for.
    const double bound = std::pow(tail, 1 / std::min(m, n));
    return area >= 1 ? ConfidenceInterval{bound, 1} : ConfidenceInterval{0, 1 - bound};
  }
  const double deviation = std::sqrt(first.variance / m + second.variance / n);
  const double logit = std::log(area / (1 - area));
  const double half = NormalQuantile(confidence) * deviation / (area * (1 - area));
  return ConfidenceInterval{1 / (1 + std::exp(half - logit)), 1 / (1 + std::exp(-half - logit))};
}

std::vector<std::optional<ConfidenceInterval>> BootstrapIntervals(Index count, int replicates,
                                                                  double confidence, std::uint64_t seed,
                                                                  ThreadPool& pool,
                                                                  const ResampledScores& scores) {
  std::vector<std::vector<double>> drawn(static_cast<std::size_t>(std::max(replicates, 0)));
  pool.ParallelFor(replicates, 1, [&](Index begin, Index end, int) {
    std::vector<Index> indices(static_cast<std::size_t>(count));
    for (Index r = begin; r < end; ++r) {
      // Streams of neighbouring numbers would overlap; those of a hash of them do not.
      Random random(Random(seed + static_cast<std::uint64_t>(r) * 0x9e3779b97f4a7c15ULL).Next());
      for (Index& i : indices) i = random.Below(count);
      drawn[static_cast<std::size_t>(r)] = scores(indices);
    }
  });
  std::vector<std::optional<ConfidenceInterval>> intervals(drawn.empty() ? 0 : drawn.front().size());
  for (std::size_t k = 0; k < intervals.size(); ++k) {
    std::vector<double> values;
    for (const std::vector<double>& one : drawn) {
      if (!std::isnan(one[k])) values.push_back(one[k]);
    }
    if (2 * values.size() < drawn.size() || values.empty()) continue;
    std::ranges::sort(values);
    intervals[k] = ConfidenceInterval{Percentile(values, (1 - confidence) / 2),
                                      Percentile(values, (1 + confidence) / 2)};
  }
  return intervals;
}

}  // namespace kweave
