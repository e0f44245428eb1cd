#include "weights/run/learn.h"

#include <fmt/format.h>

#include "kweave/error.h"
#include "weights/methods/method_table.h"
#include "weights/run/driver.h"
#include "weights/run/sample_machine.h"
#include "weights/strategies/kernel_subsets.h"
#include "weights/strategies/sampled_start.h"

namespace kweave {

void Learned::Follow(const Learned& earlier) {
  for (HistoryRow& row : history) row.solves += earlier.solves;
  history.insert(history.begin(), earlier.history.begin(), earlier.history.end());
  *this += earlier;
}

void Learned::TellStall(RunControl& control) const {
  if (status == Status::kStalled && !stalled_by.empty()) control.Log(LogLevel::kWarning, stalled_by);
}

Learned LearnWeights(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                     RunControl& control) {
  const auto samples = static_cast<std::size_t>(gram.working->left_count());
  if (problem.risk.y.size() != samples || problem.risk.C.size() != samples) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the kernels have {} samples, but there are {} labels and {} costs", samples,
                            problem.risk.y.size(), problem.risk.C.size()));
  }
  if (gram.working->kernels() == 0) throw Error(ErrorKind::kUsage, "there are no kernels to learn from");
  if (ShouldLearnOnSubsets(gram, problem, options)) return LearnOnSubsets(gram, problem, options, control);
  const auto learn = [&](const MethodRecord& method, const LearnOptions& own) {
    if (method.learn != nullptr) return method.learn(gram, problem, own, control);
    std::vector<double> theta;
    if (own.start == nullptr) {
      if (std::optional<WarmStart> start = SampledStart(gram, problem, own, control)) {
        theta = std::move(start->theta);
      }
    }
    SampleMachine machine(problem, own, control);
    return Driver(gram, machine, *problem.regularizer, own, method, theta, control).Run();
  };
  Learned learned = LearnByMethods({*problem.regularizer, *problem.risk.loss}, options, learn);
  if (options.certifies) learned.TellStall(control);
  return learned;
}

}  // namespace kweave
