#include "kweave/choices.h"

namespace kweave {

template <>
std::span<const ChoiceRecord<Task>> ChoiceTable() {
  static constexpr ChoiceRecord<Task> table[] = {
      {Task::kClassify, "classify", "Which of two or more classes a sample belongs to."},
      {Task::kRegress, "regress", "A number for every sample."},
      {Task::kOneClass, "oneclass", "Whether a sample is like those of training."},
  };
  return table;
}

template <>
std::span<const ChoiceRecord<Combine>> ChoiceTable() {
  static constexpr ChoiceRecord<Combine> table[] = {
      {Combine::kSum, "sum", "A weighted sum of fixed kernels."},
      {Combine::kProduct, "product", "A product of Gaussians whose widths are learned."},
  };
  return table;
}

template <>
std::span<const ChoiceRecord<DriverKind>> ChoiceTable() {
  static constexpr ChoiceRecord<DriverKind> table[] = {
      {DriverKind::kAuto, "auto", "After solves, unless the method moves the weights with every step."},
      {DriverKind::kWrapper, "wrapper", "After each solve."},
      {DriverKind::kInterleaved, "interleaved", "Inside solves, too."},
  };
  return table;
}

template <>
std::span<const ChoiceRecord<SolverKind>> ChoiceTable() {
  static constexpr ChoiceRecord<SolverKind> table[] = {
      {SolverKind::kAuto, "auto", "What suits kernels, loss and memory."},
      {SolverKind::kSmo, "smo", "Pairs of samples."},
      {SolverKind::kBlock, "block", "Blocks of samples."},
      {SolverKind::kLinear, "linear", "On the features, if all kernels are linear."},
  };
  return table;
}

template <>
std::span<const ChoiceRecord<Multiclass>> ChoiceTable() {
  static constexpr ChoiceRecord<Multiclass> table[] = {
      {Multiclass::kAuto, "auto", "`ovo` where samples and classes are few, else `ovr`."},
      {Multiclass::kJoint, "joint", "One machine for all classes."},
      {Multiclass::kOneAgainstRest, "ovr", "One machine per class, against the rest."},
      {Multiclass::kOneAgainstOne, "ovo", "One machine per pair of classes; they vote."},
  };
  return table;
}

template <>
std::span<const ChoiceRecord<MachineWeights>> ChoiceTable() {
  static constexpr ChoiceRecord<MachineWeights> table[] = {
      {MachineWeights::kOwn, "own", "Every machine learns its own."},
      {MachineWeights::kCommon, "common", "The same for all; they minimise the sum of the objectives."},
  };
  return table;
}

template <>
std::span<const ChoiceRecord<MatrixOn>> ChoiceTable() {
  static constexpr ChoiceRecord<MatrixOn> table[] = {
      {MatrixOn::kWeights, "weights", "The kernel weights."},
      {MatrixOn::kParts, "parts", "The norms of the parts of the function."},
  };
  return table;
}

template <>
std::span<const ChoiceRecord<KernelEvaluation>> ChoiceTable() {
  static constexpr ChoiceRecord<KernelEvaluation> table[] = {
      {KernelEvaluation::kAuto, "auto", "Whichever costs less."},
      {KernelEvaluation::kTable, "table", "Families of one kernel by tables."},
      {KernelEvaluation::kDirect, "direct", "Every kernel by its formula."},
  };
  return table;
}

template <>
std::span<const ChoiceRecord<Join>> ChoiceTable() {
  static constexpr ChoiceRecord<Join> table[] = {
      {Join::kFirst, "first", "Those of the first file; every other file must have them all."},
      {Join::kInner, "inner", "Those that all files have."},
      {Join::kOuter, "outer", "Those that any view has; views may lack some of them."},
  };
  return table;
}

template <>
std::span<const ChoiceRecord<MissingViews>> ChoiceTable() {
  static constexpr ChoiceRecord<MissingViews> table[] = {
      {MissingViews::kMean, "mean", "The mean of the view in the feature space of each kernel."},
      {MissingViews::kRescale, "rescale",
       "The same, and its distances from the means of the views it has grow by the root of all views over "
       "these."},
  };
  return table;
}

template <>
std::span<const ChoiceRecord<FeatureScale>> ChoiceTable() {
  static constexpr ChoiceRecord<FeatureScale> table[] = {
      {FeatureScale::kNone, "none", "As they are."},
      {FeatureScale::kStandard, "standard", "Mean 0 and standard deviation 1."},
      {FeatureScale::kMinMax, "minmax", "From 0 to 1."},
  };
  return table;
}

}  // namespace kweave
