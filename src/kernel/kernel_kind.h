#ifndef KWEAVE_KERNEL_KERNEL_KIND_H_
#define KWEAVE_KERNEL_KERNEL_KIND_H_

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernel/base_quantity.h"
#include "kernel/shape.h"

namespace kweave {

/// One parameter of a kind of kernel, as the kernel language, --help, the model file and Python know it.
struct ParameterRule {
  /// What words such as `median` make of a statistic s of a base quantity over pairs of training samples.
  enum class Width {
    kNone,     ///< nothing: the parameter needs a number
    kInverse,  ///< 1 / s, and `auto` is 1 / (number of features)
    kRoot,     ///< sqrt(s), and `auto` is sqrt(number of features)
  };

  std::string_view name;
  std::string_view sentence;  ///< what it is, for the documentation
  std::string_view initial;   ///< its default, as written in the kernel language
  double least = 0;
  bool excludes_least = true;  ///< above `least`, else that or more
  double most = std::numeric_limits<double>::infinity();
  bool is_whole = false;
  std::span<const double> choices{};  ///< nothing but these; empty: the range above

  Width width = Width::kNone;
  const BaseQuantity* width_of = nullptr;  ///< the quantity of the statistic, where there is one

  /// The parameter that may be given in place of this one, -1: none. That which is not given is 0.
  int alternative = -1;

  bool Allows(double value) const;
  /// What values it allows, to follow "must be ".
  std::string Allowed() const;
};

/// Kernels that are smooth in the two values of a single feature: how many Chebyshev polynomials of either
/// are enough (gram/feature_table.h).
struct SmoothInFeature {
  /// Parameters with which the kernel on [-1,1] is what it is on [-half, half]; where the base quantity does
  /// not depend on translation. Null: there are none, and the table is made for the range as it is.
  KernelParameters (*on_unit_range)(const KernelParameters& parameters, double half) = nullptr;
  /// How many polynomials keep the kernel within `error` on [-1,1] (without on_unit_range: on any range,
  /// without error).
  Index (*terms)(const KernelParameters& parameters, double error) = nullptr;
};

/// One line of the kernel table (kernel_table.h).
struct KernelKind {
  std::string_view name;          ///< in the kernel language
  std::string_view class_name{};  ///< in Python; empty: it has none
  std::string_view sentence;      ///< formula and meaning, for --help and the documentation
  const BaseQuantity* base = nullptr;
  const Shape* shape = &kIdentityShape;
  std::span<const ParameterRule> parameters{};  ///< at most kMostParameters, in the order of KernelParameters
  /// The parameter that the base quantity depends on; -1: none. Kernels share a base where it is the same.
  int base_parameter = -1;
  const SmoothInFeature* in_one_feature = nullptr;

  /// What the functions of the base quantity take as their parameter.
  double BaseParameter(const KernelParameters& values) const {
    return base_parameter < 0 ? 0 : values[static_cast<std::size_t>(base_parameter)];
  }
  /// Whether it compares sequences, not numbers.
  bool IsOnSequences() const { return base->source == BaseQuantity::Source::kSequences; }
  /// k(x,x) where it is the same for all x: for base quantities that are 0 there.
  std::optional<double> ConstantDiagonal(const KernelParameters& values) const;
};

/// The parameters at their defaults; 1 for those that follow from the data.
KernelParameters PlainDefaults(const KernelKind& kind);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_KERNEL_KIND_H_
