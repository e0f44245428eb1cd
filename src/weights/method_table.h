#ifndef KWEAVE_WEIGHTS_METHOD_TABLE_H_
#define KWEAVE_WEIGHTS_METHOD_TABLE_H_

#include <memory>
#include <span>
#include <string_view>

#include "weights/weight_method.h"

namespace kweave {

/// One line of the table of methods.
struct MethodRecord {
  std::string_view name;
  std::string_view sentence;    ///< for --help and the documentation
  bool (*serves)(double norm);  ///< whether it solves ||theta||_p <= 1 for this p
  std::unique_ptr<WeightMethod> (*make)(double norm);
};

std::span<const MethodRecord> MethodTable();

/// The record of this name, or for "auto" the one that suits the norm. Throws
/// Error(kUsage), naming those that would do, when there is none or it does not serve the norm.
const MethodRecord& FindMethod(std::string_view name, double norm);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHOD_TABLE_H_
