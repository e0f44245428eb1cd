#ifndef KWEAVE_WEIGHTS_METHODS_METHOD_TABLE_H_
#define KWEAVE_WEIGHTS_METHODS_METHOD_TABLE_H_

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "weights/run/learn.h"
#include "weights/run/weight_method.h"

namespace kweave {

/// One line of the table of methods.
struct MethodRecord {
  std::string_view name;
  std::string_view sentence;  ///< for --help and the documentation
  /// Whether it solves the problem of this regulariser and loss.
  bool (*serves)(const Regularizer& regularizer, const Loss& loss);
  /// For the driver, which alternates solves and moves; null for a method that does not alternate.
  std::function<std::unique_ptr<WeightMethod>(const Regularizer& regularizer)> make = nullptr;
  /// What runs instead of the driver; else null.
  Learned (*learn)(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                   RunControl& control) = nullptr;
  /// A paper's method as the paper has it: for gaps of about 1e-3, not for small ones. `auto` takes none of
  /// them.
  bool is_baseline = false;
  /// Compares values of whole solves, so it cannot move inside one.
  bool needs_whole_solves = false;
  /// The lower bound is that of the best mixture of the betas so far, where the regulariser has kinks; the
  /// method does not look at it.
  bool mixes_betas = false;
  /// Looks inside the machine, which must have one output per sample.
  bool needs_one_output = false;
};

std::span<const MethodRecord> MethodTable();

/// The record of this name, or for "auto" the one that suits the regulariser. Throws Error(kUsage), naming
/// those that would do, when there is none or it does not serve regulariser, loss and driver.
const MethodRecord& FindMethod(std::string_view name, const Regularizer& regularizer, const Loss& loss,
                               DriverKind driver = DriverKind::kAuto);

/// What a machine is to methods and driver.
struct MachineKind {
  const Regularizer& regularizer;
  const Loss& loss;
  bool has_one_output = true;
};

/// Learns by the method asked for; for "auto" by the one that suits, and where that stalls by others that
/// serve, each from the best answer so far, which is what is returned. `learn` runs one of them.
Learned LearnByMethods(const MachineKind& machine, const LearnOptions& options,
                       const std::function<Learned(const MethodRecord&, const LearnOptions&)>& learn);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHODS_METHOD_TABLE_H_
