// More than two classes, or several labels per sample: which machines are learned, and from what.
#ifndef KWEAVE_TRAIN_MULTICLASS_H_
#define KWEAVE_TRAIN_MULTICLASS_H_

#include <optional>

#include "train/training_run.h"

namespace kweave {

/// None for one machine that tells two classes apart. Two classes have more than one machine only where joint
/// ones are asked for, and several labels per sample are always learned one against the rest.
/// Throws Error(kUsage) when the options do not fit the labels.
std::optional<Multiclass> EffectiveMulticlass(const TrainOptions& options, const ClassLabels& labels);

/// How many machines are learned apart: several of two classes each, or one, which may be joint.
Index MachineCount(const TrainOptions& options, const PreparedSamples& samples);

/// How many functions a machine has: one for each class where it is joint, else one.
Index OutputsOfOneMachine(const TrainOptions& options, const PreparedSamples& samples);

/// One machine per class, which tells it from all others.
LearnedMachines LearnOneAgainstRest(const TrainingRun& run);

/// One machine per pair of classes, which vote.
LearnedMachines LearnOneAgainstOne(const TrainingRun& run);

/// One machine for all classes: a function for each, one slack per sample. train/joint.cc.
LearnedMachines LearnJoint(const TrainingRun& run);

/// The machines that `multiclass` (as EffectiveMulticlass says) asks for.
LearnedMachines LearnMulticlass(Multiclass multiclass, const TrainingRun& run);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_MULTICLASS_H_
