// More than two classes, or several labels per sample: which machines are learned, and from what.
#ifndef KWEAVE_TRAIN_MULTICLASS_H_
#define KWEAVE_TRAIN_MULTICLASS_H_

#include <string>

#include "base/run_control.h"
#include "base/threads.h"
#include "kweave/model.h"
#include "kweave/options.h"
#include "regularizer/regularizer.h"
#include "train/grams.h"
#include "train/memory_plan.h"
#include "train/prepared.h"
#include "train/result.h"

namespace kweave {

/// Everything that machines of several classes are learned from.
struct MulticlassRun {
  const PreparedSamples& samples;
  const PreparedKernels& prepared;
  const TrainOptions& options;
  const MemoryPlan& plan;
  Grams* grams;  ///< of all samples; null where no kernel varies, and every machine is a constant
  ThreadPool& pool;
  RunControl& control;
  const Model* start;              ///< null: cold
  RegularizerPointer regularizer;  ///< of every machine without a norm of its own
};

/// "joint", "ovr" or "ovo"; empty for one machine that tells two classes apart. Two classes have more than one machine
/// only where "joint" is asked for, and several labels per sample are always learned one against the rest.
/// Throws Error(kUsage) when the options do not fit the labels.
std::string EffectiveMulticlass(const TrainOptions& options, const ClassLabels& labels);

/// Whether several machines of two classes each are learned.
bool HasSeveralMachines(const TrainOptions& options, const PreparedSamples& samples);

/// How many functions a machine has: one for each class where it is joint, else one.
Index OutputsOfOneMachine(const TrainOptions& options, const PreparedSamples& samples);

/// One machine per class, which tells it from all others.
LearnedMachines LearnOneAgainstRest(const MulticlassRun& run);

/// One machine per pair of classes, which vote.
LearnedMachines LearnOneAgainstOne(const MulticlassRun& run);

/// One machine for all classes: a function for each, one slack per sample. train/joint.cc.
LearnedMachines LearnJoint(const MulticlassRun& run);

/// The machines that `name` (as EffectiveMulticlass says) asks for.
LearnedMachines LearnMulticlass(const std::string& name, const MulticlassRun& run);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_MULTICLASS_H_
