#include "weights/run/learn_joint.h"

#include <fmt/format.h>

#include <optional>

#include "kweave/error.h"
#include "weights/methods/method_table.h"
#include "weights/run/driver.h"
#include "weights/run/joint_machine.h"

namespace kweave {

namespace {

void CheckProblem(const GramPair& gram, const JointLearningProblem& problem) {
  const JointRisk& risk = problem.risk;
  const auto samples = static_cast<std::size_t>(gram.working->left_count());
  if (risk.y.size() != samples || risk.C.size() != samples) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the kernels have {} samples, but there are {} labels and {} costs", samples,
                            risk.y.size(), risk.C.size()));
  }
  if (gram.working->kernels() == 0 && problem.given == nullptr)
    throw Error(ErrorKind::kUsage, "there are no kernels to learn from");
  if (!ServesJoint(*risk.loss)) {
    throw Error(ErrorKind::kUsage,
                "a joint machine needs a `loss` that never grows with the margin, or least-squares",
                {"loss", "another", "one that never grows with the margin, or least-squares"});
  }
  for (const ClassMatrix& matrix : problem.matrices) {
    if (matrix.size() == static_cast<std::size_t>(risk.classes * risk.classes)) continue;
    throw Error(ErrorKind::kUsage, fmt::format("a kernel on {} classes has {} values instead of {}",
                                               risk.classes, matrix.size(), risk.classes * risk.classes));
  }
}

}  // namespace

Learned LearnJoint(const GramPair& gram, const JointLearningProblem& problem, const LearnOptions& options,
                   RunControl& control) {
  CheckProblem(gram, problem);
  const GramPair* given = problem.given;
  JointGram working(*gram.working, problem.risk.classes, problem.matrices, given ? given->working : nullptr);
  std::optional<JointGram> exact;
  const GramPair pairs{&working, gram.working_is_float, [&]() -> Gram& {
                         if (!exact) {
                           exact.emplace(gram.exact(), problem.risk.classes, problem.matrices,
                                         given ? &given->exact() : nullptr);
                         }
                         return *exact;
                       }};
  const auto learn = [&](const MethodRecord& method, const LearnOptions& own) {
    JointMachine machine(problem, own, control);
    return Driver(pairs, machine, *problem.regularizer, own, method, {}, control).Run();
  };
  Learned learned = LearnByMethods({*problem.regularizer, *problem.risk.loss, false}, options, learn);
  learned.TellStall(control);
  return learned;
}

}  // namespace kweave
