#ifndef KWEAVE_KERNEL_KERNEL_KIND_H_
#define KWEAVE_KERNEL_KERNEL_KIND_H_

#include <string_view>

#include "kernel/base_quantity.h"

namespace kweave {

/// How a kernel's value follows from its base quantity b.
enum class Shape {
  kIdentity,     ///< b
  kExponential,  ///< exp(-gamma b)
  kPower,        ///< (gamma b + coef0)^degree, degree a positive integer
};

struct KernelParameters {
  double gamma = 1;
  double coef0 = 0;
  double degree = 1;
  bool operator==(const KernelParameters&) const = default;
};

/// One line of the kernel table (kernel_table.h).
struct KernelKind {
  std::string_view name;      ///< in the kernel language
  std::string_view sentence;  ///< formula and meaning, for --help and the documentation
  const BaseQuantity* base = nullptr;
  Shape shape = Shape::kIdentity;
  /// Default of gamma in the kernel language ("median", "auto", "1"); empty when the shape has none.
  std::string_view default_gamma{};
  KernelParameters defaults{};
};

/// The kernel value at base quantity `base`, in plain double arithmetic.
double ShapeValue(Shape shape, const KernelParameters& parameters, double base);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_KERNEL_KIND_H_
