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

std::vector<double> SampledStart(const GramPair& gram, const LearningProblem& problem,
                                 const LearnOptions& options, RunControl& control) {
  const Index samples = gram.working->left_count();
  const Index drawn = samples / kSamplesPerDrawn;
  if (!gram.sample || gram.working->kernels() < 2 || IsUniformSum(*problem.regularizer) ||
      drawn < kLeastDrawn || options.target_gap >= kSampleGap) {
    return {};
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
  return LearnWeights(sample->Pair(), part, coarse, control).theta;
}

}  // namespace kweave
