#ifndef KWEAVE_CHOICES_H_
#define KWEAVE_CHOICES_H_

#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace kweave {

/// What is learned.
enum class Task { kClassify, kRegress, kOneClass };

/// What the kernels make together.
enum class Combine { kSum, kProduct };

/// When the kernel weights move: after whole solves, or inside them.
enum class DriverKind { kAuto, kWrapper, kInterleaved };

/// What trains the machine at given kernel weights.
enum class SolverKind { kAuto, kSmo, kBlock, kLinear };

/// Which machines tell more than two classes apart.
enum class Multiclass { kAuto, kJoint, kOneAgainstRest, kOneAgainstOne };

/// Whose kernel weights the machines of one against rest have.
enum class MachineWeights { kOwn, kCommon };

/// What a matrix over the kernels is a norm of.
enum class MatrixOn { kWeights, kParts };

/// How the certificate evaluates kernels.
enum class KernelEvaluation { kAuto, kTable, kDirect };

/// One line of the table of an enumeration.
template <class Choice>
struct ChoiceRecord {
  Choice choice;
  std::string_view name;      ///< on the command line, in JSON and in Python
  std::string_view sentence;  ///< for the documentation
};

/// The table of one of the enumerations above, in the order of its values. These are the only texts that
/// stand for them: inside the library a choice is a value, and only its edges read and write names.
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

/// ToString(DriverKind::kWrapper) is "wrapper".
template <class Choice>
requires std::is_enum_v<Choice> std::string_view ToString(Choice choice) {
  return ChoiceTable<Choice>()[static_cast<std::size_t>(choice)].name;
}

/// The record of this name, or null.
template <class Choice>
const ChoiceRecord<Choice>* FindChoice(std::string_view name) {
  for (const ChoiceRecord<Choice>& record : ChoiceTable<Choice>()) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

}  // namespace kweave

#endif  // KWEAVE_CHOICES_H_
