#include "kernel/kernel_kind.h"

#include <cmath>

namespace kweave {

double ShapeValue(Shape shape, const KernelParameters& parameters, double base) {
  switch (shape) {
    case Shape::kIdentity:
      return base;
    case Shape::kExponential:
      return std::exp(-parameters.gamma * base);
    case Shape::kPower:
      return std::pow(parameters.gamma * base + parameters.coef0, parameters.degree);
  }
  return 0;
}

}  // namespace kweave
