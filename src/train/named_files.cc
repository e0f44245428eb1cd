// Which files the options name, as what reads them will find them: outputs must not overwrite them.
#include "kernel/language.h"
#include "kweave/train.h"
#include "train/class_kernels.h"
#include "train/effective_options.h"
#include "train/regularizer_choice.h"

namespace kweave {

std::vector<std::pair<std::string, std::string>> FilesOfOptions(const Dataset& data,
                                                                const TrainOptions& options) {
  std::vector<std::pair<std::string, std::string>> files = FilesOfRegularizer(options);
  for (std::string& file : FilesOfKernels(EffectiveKernels(options), data.views))
    files.emplace_back("kernels", std::move(file));
  if (!options.feature_groups.empty() && !options.feature_groups.starts_with('{'))
    files.emplace_back("feature_groups", options.feature_groups);
  for (std::string& file : FilesOfClassKernels(options.class_kernels))
    files.emplace_back("class_kernels", std::move(file));
  return files;
}

}  // namespace kweave
