#include "train/training_run.h"

#include <utility>

namespace kweave {

LearnOptions TrainingRun::Learning(const WarmStart* warm) const {
  return {.method = options.method,
          .driver = options.driver,
          .target_gap = options.gap,
          .max_iterations = options.max_iterations,
          .row_cache_bytes = plan.row_cache_bytes,
          .solver = options.solver,
          .pool = &pool,
          .start = warm,
          .keeps_cuts = options.weights_tolerance > 0};
}

LearnedMachines TrainingRun::Account(LearnedMachines learned) const {
  if (grams == nullptr) return learned;
  learned.uses_table = grams->Exact().shape().table_error > 0;
  learned.kernel_work.Add(*grams);
  return learned;
}

Model TrainingRun::Finish(ModelContent content, const LearnedMachines& learned, double kernel_seconds) const {
  if (!samples.transforms.empty()) {
    content.transforms = samples.transforms;
    content.confound_count = ColumnCount(samples.confounds.features);
    content.confound_names = samples.confounds.feature_names;
  }
  return FinishModel(std::move(content), options, context, plan, learned, pool.size(), kernel_seconds,
                     control);
}

}  // namespace kweave
