#include "weights/learn_common.h"

#include <fmt/format.h>

#include <optional>

#include "kweave/error.h"
#include "weights/common_machine.h"
#include "weights/driver.h"
#include "weights/method_table.h"

namespace kweave {

Learned LearnCommon(const GramPair& gram, const CommonLearningProblem& problem, const LearnOptions& options,
                    RunControl& control) {
  const MethodRecord& method = FindMethod(options.method, *problem.regularizer, *problem.risks[0].loss);
  if (method.make == nullptr || method.needs_one_output) {
    throw Error(ErrorKind::kUsage,
                fmt::format("method {} does not serve weights common to several machines", method.name));
  }
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
  CommonMachine machine(problem, shared, control);
  return Driver(pairs, machine, *problem.regularizer, shared, method, {}, control).Run();
}

}  // namespace kweave
