// One run of training, whatever it learns: one machine, several, one for all classes, or the widths of a
// product.
#ifndef KWEAVE_TRAIN_TRAINING_RUN_H_
#define KWEAVE_TRAIN_TRAINING_RUN_H_

#include "base/run_control.h"
#include "base/threads.h"
#include "kweave/context.h"
#include "kweave/model.h"
#include "kweave/options.h"
#include "regularizer/regularizer.h"
#include "train/grams.h"
#include "train/memory_plan.h"
#include "train/prepared.h"
#include "train/result.h"
#include "weights/run/learn.h"

namespace kweave {

/// Everything that machines are learned from. What it refers to must outlive it.
struct TrainingRun {
  const PreparedSamples& samples;
  const PreparedKernels& prepared;
  const TrainOptions& options;
  const Context& context;
  const MemoryPlan& plan;
  ThreadPool& pool;
  RunControl& control;
  Grams* grams =
      /// Of all samples; null where no kernel varies, and every machine is a constant, and for products.
      nullptr;
  const Model* start = nullptr;              ///< null: cold
  RegularizerPointer regularizer = nullptr;  ///< of every machine without a norm of its own
  bool certifies = true;                     ///< false: one machine ends by the bounds of its solver

  /// What learning takes from the options, the plan and the pool.
  LearnOptions Learning(const WarmStart* warm = nullptr) const;
  /// What was learned, its certificate's evaluation and the work of the kernels of all samples noted.
  LearnedMachines Account(LearnedMachines learned) const;
  /// The model, its summary completed by what the whole run chose and took; `kernel_seconds` before learning
  /// began.
  Model Finish(ModelContent content, const LearnedMachines& learned, double kernel_seconds) const;
};

}  // namespace kweave

#endif  // KWEAVE_TRAIN_TRAINING_RUN_H_
