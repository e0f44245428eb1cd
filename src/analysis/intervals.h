// Solves   Where does a score lie that was measured on a sample of the samples?
// Method   See kweave/evaluate.h, which names the papers.
// Holds    Every interval holds the score it belongs to, but for the bootstrap, whose percentiles need not.
#ifndef KWEAVE_ANALYSIS_INTERVALS_H_
#define KWEAVE_ANALYSIS_INTERVALS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/threads.h"
#include "kweave/index.h"

namespace kweave {

struct ConfidenceInterval {
  double lower = 0;
  double upper = 0;
};

/// z with P(|N| <= z) = confidence for a standard normal N.
double NormalQuantile(double confidence);

/// Of a probability of which `hits` of `count` > 0 independent trials were seen.
ConfidenceInterval WilsonInterval(double hits, double count, double confidence);

/// Of a correlation r found from more than three samples; none of fewer, nor at |r| = 1.
std::optional<ConfidenceInterval> FisherInterval(double r, Index count, double confidence);

/// Of the area under the ROC curve; none without samples on both sides.
std::optional<ConfidenceInterval> DelongInterval(const std::vector<bool>& is_positive,
                                                 std::span<const double> decision, double confidence);

/// Scores of the samples in `indices`, with repetitions; NaN: undefined of these.
using ResampledScores = std::function<std::vector<double>(std::span<const Index> indices)>;

/// Percentiles of every score over `replicates` draws of `count` samples with replacement, those undefined
/// left out; none where fewer than half of them define it. The same for every number of threads.
std::vector<std::optional<ConfidenceInterval>> BootstrapIntervals(Index count, int replicates,
                                                                  double confidence, std::uint64_t seed,
                                                                  ThreadPool& pool,
                                                                  const ResampledScores& scores);

}  // namespace kweave

#endif  // KWEAVE_ANALYSIS_INTERVALS_H_
