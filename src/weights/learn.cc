#include "weights/learn.h"

#include <fmt/format.h>

#include "kweave/error.h"
#include "weights/driver.h"
#include "weights/kernel_subsets.h"
#include "weights/method_table.h"
#include "weights/sample_machine.h"
#include "weights/sampled_start.h"

namespace kweave {

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
  const MethodRecord& method = FindMethod(options.method, *problem.regularizer, *problem.risk.loss);
  if (method.learn != nullptr) {
    if (options.driver != "wrapper") return method.learn(gram, problem, options, control);
    throw Error(ErrorKind::kUsage,
                fmt::format("method {} moves weights with every step, not with driver wrapper", method.name));
  }
  if (method.is_first_order && options.driver == "interleaved") {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("method {} compares values of whole solves, so it needs driver wrapper", method.name));
  }
  std::vector<double> theta;
  if (options.start == nullptr) {
    if (std::optional<WarmStart> start = SampledStart(gram, problem, options, control)) {
      theta = std::move(start->theta);
    }
  }
  SampleMachine machine(problem, options, control);
  return Driver(gram, machine, *problem.regularizer, options, method, theta, control).Run();
}

}  // namespace kweave
