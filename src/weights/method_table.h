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
  /// Whether it solves the problem of this regulariser and loss.
  bool (*serves)(const Regularizer& regularizer, const Loss& loss);
  /// For the driver, which alternates solves and moves; null for a method that does not alternate.
  std::unique_ptr<WeightMethod> (*make)(const Regularizer& regularizer);
  /// What runs instead of the driver; else null.
  Learned (*learn)(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                   RunControl& control) = nullptr;
  /// Knows gradients only: for gaps of about 1e-3, not for small ones.
  bool is_first_order = false;
  /// Looks inside the machine, which must have one output per sample.
  bool needs_one_output = false;
};

std::span<const MethodRecord> MethodTable();

/// The record of this name, or for "auto" the one that suits the regulariser. Throws Error(kUsage), naming those that would do, when
/// there is none or it does not serve regulariser and loss.
const MethodRecord& FindMethod(std::string_view name, const Regularizer& regularizer, const Loss& loss);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHOD_TABLE_H_
