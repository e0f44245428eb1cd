#ifndef KWEAVE_WEIGHTS_METHOD_TABLE_H_
#define KWEAVE_WEIGHTS_METHOD_TABLE_H_

#include <memory>
#include <span>
#include <string_view>

#include "weights/learn.h"
#include "weights/weight_method.h"

namespace kweave {

/// One line of the table of methods.
struct MethodRecord {
  std::string_view name;
  std::string_view sentence;  ///< for --help and the documentation
  /// Whether it solves ||theta||_p <= 1 for this p and loss.
  bool (*serves)(double norm, const Loss& loss);
  /// For the driver, which alternates solves and moves; null for a method that does not alternate.
  std::unique_ptr<WeightMethod> (*make)(double norm);
  /// What runs instead of the driver; else null.
  Learned (*learn)(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                   RunControl& control) = nullptr;
};

std::span<const MethodRecord> MethodTable();

/// The record of this name, or for "auto" the one that suits the norm. Throws Error(kUsage), naming those that would do, when
/// there is none or it does not serve norm and loss.
const MethodRecord& FindMethod(std::string_view name, double norm, const Loss& loss);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHOD_TABLE_H_
