#include "kweave/model_part.h"

#include <fmt/format.h>

#include <memory>
#include <unordered_set>

#include "kweave/error.h"
#include "model/content.h"

namespace kweave {

Model WithKernels(const Model& model, std::span<const std::string> names) {
  auto content = std::make_shared<ModelContent>(model.content());
  std::unordered_set<std::string> kept(names.begin(), names.end());
  for (Index m = 0; m < content->kernels.size(); ++m) {
    if (kept.erase(content->kernels.Name(m)) > 0) continue;
    for (ModelMachine& machine : content->machines) machine.theta[m] = 0;
  }
  for (ModelPairKernel& kernel : content->pairs.kernels) {
    if (kept.erase(kernel.name) == 0) kernel.weight = 0;
  }
  if (!kept.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("the model has no kernel '{}' with a weight", *kept.begin()));
  }
  return Model(std::move(content));
}

}  // namespace kweave
