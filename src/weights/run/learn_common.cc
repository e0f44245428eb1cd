#include "weights/run/learn_common.h"

#include <fmt/format.h>

#include <optional>

#include "kweave/error.h"
#include "weights/methods/method_table.h"
#include "weights/run/common_machine.h"
#include "weights/run/driver.h"

namespace kweave {

Learned LearnCommon(const GramPair& gram, const CommonLearningProblem& problem, const LearnOptions& options,
                    RunControl& control) {
  const auto machines = static_cast<Index>(problem.risks.size());
  JointGram working(*gram.working, machines, {});
  std::optional<JointGram> exact;
  const GramPair pairs{&working, gram.working_is_float, [&]() -> Gram& {
                         if (!exact) exact.emplace(gram.exact(), machines, std::span<const ClassMatrix>{});
                         return *exact;
                       }};
  // One machine after the other takes the same memory for its rows.
  MemoryReserve reserve;
  LearnOptions shared = options;
  if (shared.reserve == nullptr) shared.reserve = &reserve;
  const auto learn = [&](const MethodRecord& method, const LearnOptions& own) {
    CommonMachine machine(problem, own, control);
    return Driver(pairs, machine, *problem.regularizer, own, method, {}, control).Run();
  };
  return LearnByMethods({*problem.regularizer, *problem.risks[0].loss, false}, shared, learn);
}

}  // namespace kweave
