#include "kernel/kernel_kind.h"

#include <cmath>

namespace kweave {

namespace {

// By squaring: degrees are small, and std::pow takes ten times as long.
double IntegerPower(double value, int degree) {
  double result = 1;
  for (; degree > 0; degree /= 2, value *= value) {
    if (degree % 2 == 1) result *= value;
  }
  return result;
}

}  // namespace

double ShapeValue(Shape shape, const KernelParameters& parameters, double base) {
  switch (shape) {
    case Shape::kIdentity:
      return base;
    case Shape::kExponential:
      return std::exp(-parameters.gamma * base);
    case Shape::kPower:
      return IntegerPower(parameters.gamma * base + parameters.coef0, static_cast<int>(parameters.degree));
  }
  return 0;
}

}  // namespace kweave
