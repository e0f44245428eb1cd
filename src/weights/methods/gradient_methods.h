// The methods that move parameters along projected gradients, of sums and of any other differentiable kernel.
#ifndef KWEAVE_WEIGHTS_METHODS_GRADIENT_METHODS_H_
#define KWEAVE_WEIGHTS_METHODS_GRADIENT_METHODS_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "weights/models/gradient_steps.h"

namespace kweave {

struct GradientMethodRecord {
  std::string_view name;
  std::string_view sentence;
  std::unique_ptr<GradientSteps> (*make)(const Regularizer& regularizer);
  double inner_gap;  ///< of every solve, relative; 0: as coarse as progress allows
  bool is_baseline;
};

std::span<const GradientMethodRecord> GradientMethodTable();

/// "auto" is projected-quasi-newton; null where there is none of this name.
const GradientMethodRecord* FindGradientMethod(std::string_view name);

/// "auto, pgd, ...", for messages.
std::string GradientMethodNames();

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHODS_GRADIENT_METHODS_H_
