/// The enumerations among the options, and the names that stand for their values in text.
///
///     kweave::TrainOptions options;
///     options.task = kweave::Task::kRegress;
///     std::cout << ToString(options.task);   // "regress"
///
/// Losses, methods, regularisers, normalisers and kernels are open families: they go by name.
#ifndef KWEAVE_CHOICES_H_
#define KWEAVE_CHOICES_H_

#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace kweave {

/// What is learned.
enum class Task {
  kClassify,  ///< labels are names of classes, two or more
  kRegress,   ///< labels are numbers
  kOneClass,  ///< no labels: where the samples lie, so that outliers can be told
};

/// How the kernels are combined.
enum class Combine {
  kSum,      ///< K(theta) = sum_m theta_m K_m: convex, certified by a duality gap
  kProduct,  ///< K(theta) = prod_m exp(-theta_m D_m), entry by entry: not convex
};

/// When the kernel weights move.
enum class DriverKind {
  kAuto,         ///< after solves, unless the method moves them with every step
  kWrapper,      ///< after each full solve at fixed weights
  kInterleaved,  ///< inside solves, too
};

/// The inner solver: what trains the machine at fixed kernel weights.
enum class SolverKind {
  kAuto,    ///< what suits kernels, loss and memory
  kSmo,     ///< sequential minimal optimisation: two variables per step
  kBlock,   ///< a working set of up to some hundred variables per step
  kLinear,  ///< on the features, where all kernels are linear
};

/// How more than two classes are reduced to machines.
enum class Multiclass {
  kAuto,            ///< one against one or one against rest, by the numbers of samples and classes
  kJoint,           ///< one machine with an output for each class and one slack per sample
  kOneAgainstRest,  ///< a machine for each class
  kOneAgainstOne,   ///< a machine for each pair of classes
};

/// Whether the machines of one-against-rest share their kernel weights.
enum class MachineWeights {
  kOwn,     ///< each machine learns its own
  kCommon,  ///< all machines share one vector of weights
};

/// What the matrix of the regulariser `matrix` is a norm of.
enum class MatrixOn {
  kWeights,  ///< sqrt(theta' E theta) <= 1
  kParts,    ///< u' E u with u_m = ||w_m||: the parts of the hyperplane
};

/// How the certificate evaluates kernels.
enum class KernelEvaluation {
  kAuto,    ///< whichever of the two costs less
  kTable,   ///< by Chebyshev tables; the bound on their error is added to the gap
  kDirect,  ///< by the formula of every kernel
};

/// Which samples there are where files are joined by the ids of samples.
enum class Join {
  kFirst,  ///< those of the first file; every other file must have them all
  kInner,  ///< those that all files have
  kOuter,  ///< those that any file of a view has; a view may lack some of them
};

/// What a sample without some view is taken for.
enum class MissingViews {
  kMean,     ///< for the mean of the view: its kernels add what they add on average
  kRescale,  ///< the same, and what it has counts for more, by the views it has
};

/// What becomes of features before kernels see them.
enum class FeatureScale {
  kNone,      ///< as they are
  kStandard,  ///< mean 0 and standard deviation 1
  kMinMax,    ///< from 0 to 1
};

/// One line of the table of an enumeration: a value and its name.
template <class Choice>
struct ChoiceRecord {
  Choice choice;
  std::string_view name;      ///< on the command line, in JSON and in Python
  std::string_view sentence;  ///< for the documentation
};

/// The table of one of the enumerations above, in the order of its values. Inside the library a choice is a
/// value; only the command line, JSON and Python read and write these names.
///
///     for (const auto& record : kweave::ChoiceTable<kweave::SolverKind>()) {
///       std::cout << record.name << ": " << record.sentence << "\n";
///     }
template <class Choice>
std::span<const ChoiceRecord<Choice>> ChoiceTable();
template <>
std::span<const ChoiceRecord<Task>> ChoiceTable();
template <>
std::span<const ChoiceRecord<Combine>> ChoiceTable();
template <>
std::span<const ChoiceRecord<DriverKind>> ChoiceTable();
template <>
std::span<const ChoiceRecord<SolverKind>> ChoiceTable();
template <>
std::span<const ChoiceRecord<Multiclass>> ChoiceTable();
template <>
std::span<const ChoiceRecord<MachineWeights>> ChoiceTable();
template <>
std::span<const ChoiceRecord<MatrixOn>> ChoiceTable();
template <>
std::span<const ChoiceRecord<KernelEvaluation>> ChoiceTable();
template <>
std::span<const ChoiceRecord<Join>> ChoiceTable();
template <>
std::span<const ChoiceRecord<MissingViews>> ChoiceTable();
template <>
std::span<const ChoiceRecord<FeatureScale>> ChoiceTable();

/// ToString(DriverKind::kWrapper) is "wrapper".
template <class Choice>
requires std::is_enum_v<Choice> std::string_view ToString(Choice choice) {
  return ChoiceTable<Choice>()[static_cast<std::size_t>(choice)].name;
}

/// The record of this name, or null: FindChoice<Task>("regress")->choice is Task::kRegress.
template <class Choice>
const ChoiceRecord<Choice>* FindChoice(std::string_view name) {
  for (const ChoiceRecord<Choice>& record : ChoiceTable<Choice>()) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

}  // namespace kweave

#endif  // KWEAVE_CHOICES_H_
