#include "weights/strategies/sampled_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/random.h"
#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

// Solving on an eighth of the samples costs a sixty-fourth of the pairs: next to nothing, even if it saves
// one solve on all only. Fewer samples than the least say too little of the weights.
constexpr Index kSamplesPerDrawn = 8, kLeastDrawn = 500;
constexpr double kSampleGap = 0.02;  // what a sample of the samples errs by anyway

struct DrawnSamples {
  std::vector<Index> rows;      // ascending
  std::vector<double> factors;  // how many each stands for
};

// Samples on either side of y = 0 are drawn in proportion: few on one of them are not left to chance.
DrawnSamples Draw(std::span<const double> y, std::uint64_t seed) {
  std::vector<Index> sides[2];
  for (std::size_t i = 0; i < y.size(); ++i) sides[y[i] > 0 ? 1 : 0].push_back(static_cast<Index>(i));
  std::vector<double> factors(y.size(), 0.0);
  Random random(seed);
  for (const std::vector<Index>& side : sides) {
    if (side.empty()) continue;
    const auto size = static_cast<Index>(side.size()), drawn = std::max<Index>(size / kSamplesPerDrawn, 1);
    for (const Index k : RandomSubset(size, drawn, random)) {
      factors[static_cast<std::size_t>(side[static_cast<std::size_t>(k)])] =
          static_cast<double>(size) / static_cast<double>(drawn);
    }
  }
  DrawnSamples samples;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (factors[i] == 0) continue;
    samples.rows.push_back(static_cast<Index>(i));
    samples.factors.push_back(factors[i]);
  }
  return samples;
}

}  // namespace

std::optional<WarmStart> SampledStart(const GramPair& gram, const LearningProblem& problem,
                                      const LearnOptions& options, RunControl& control) {
  const Index samples = gram.working->left_count();
  if (!gram.sample || gram.working->kernels() < 2 || IsUniformSum(*problem.regularizer) ||
      samples / kSamplesPerDrawn < kLeastDrawn || options.target_gap >= kSampleGap) {
    return std::nullopt;
  }
  const auto [rows, factors] = Draw(problem.risk.y, control.seed());
  std::vector<double> y, C;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto i = static_cast<std::size_t>(rows[k]);
    y.push_back(problem.risk.y[i]);
    C.push_back(problem.risk.C[i] * factors[k]);
  }
  const std::shared_ptr<GramSample> sample = gram.sample(rows);
  LearningProblem part = problem;
  part.risk.y = y;
  part.risk.C = C;
  LearnOptions coarse = options;
  coarse.target_gap = kSampleGap;
  coarse.certifies = false;
  const RunControl::Stage stage(control, fmt::format("{} of {} samples", rows.size(), samples));
  Learned learned = LearnWeights(sample->Pair(), part, coarse, control);
  WarmStart start{std::move(learned.theta), std::vector<double>(static_cast<std::size_t>(samples), 0.0)};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    start.beta[static_cast<std::size_t>(rows[k])] = learned.beta[k];
  }
  return start;
}

}  // namespace kweave
