#include "weights/sampled_start.h"

#include <algorithm>
#include <memory>

#include "base/random.h"
#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

constexpr Index kSamplesPerDrawn = 8;
constexpr Index kLeastDrawn = 500;
constexpr double kSampleGap = 0.02;

}  // namespace

std::optional<WarmStart> SampledStart(const GramPair& gram, const LearningProblem& problem,
                                      const LearnOptions& options, RunControl& control) {
  const Index samples = gram.working->left_count();
  const Index drawn = samples / kSamplesPerDrawn;
  if (!gram.sample || gram.working->kernels() < 2 || IsUniformSum(*problem.regularizer) ||
      drawn < kLeastDrawn || options.target_gap >= kSampleGap) {
    return std::nullopt;
  }
  Random random(0);
  const std::vector<Index> rows = RandomSubset(samples, drawn, random);
  std::vector<double> y, C;
  for (const Index i : rows) {
    y.push_back(problem.risk.y[static_cast<std::size_t>(i)]);
    C.push_back(problem.risk.C[static_cast<std::size_t>(i)] * static_cast<double>(samples) /
                static_cast<double>(drawn));
  }
  const std::shared_ptr<GramSample> sample = gram.sample(rows);
  LearningProblem part = problem;
  part.risk.y = y;
  part.risk.C = C;
  LearnOptions coarse = options;
  coarse.target_gap = kSampleGap;
  coarse.certifies = false;
  Learned learned = LearnWeights(sample->Pair(), part, coarse, control);
  WarmStart start{std::move(learned.theta), std::vector<double>(static_cast<std::size_t>(samples), 0.0)};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    start.beta[static_cast<std::size_t>(rows[k])] = learned.beta[k];
  }
  return start;
}

}  // namespace kweave
