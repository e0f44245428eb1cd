// One parsed specification: what the text says, before lists are multiplied out and widths measured.
//
// Text to KernelSpec: spec_parser.h. KernelSpec to kernels: spec_expander.h.
#ifndef KWEAVE_KERNEL_KERNEL_SPEC_H_
#define KWEAVE_KERNEL_KERNEL_SPEC_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/kernel_set.h"

namespace kweave {

/// What a data-driven width follows from.
enum class WidthRule : std::uint8_t {
  kNone,      ///< a plain number
  kAuto,      ///< 1 / number of features
  kMean,      ///< 1 / mean over training pairs
  kQuantile,  ///< 1 / quantile over training pairs
};

/// A parameter value: `number`, or `number` times what the rule measures.
struct SpecValue {
  double number = 1;
  WidthRule rule = WidthRule::kNone;
  double quantile = 0;
};

/// One of the lists that are multiplied out; the last one varies fastest.
struct SpecAxis {
  enum class Kind { kValues, kFiles, kFeatures };
  Kind kind = Kind::kValues;
  std::vector<SpecValue> values;   ///< kValues
  std::vector<std::string> files;  ///< kFiles
  /// kFeatures of sequences: windows of so many letters, their beginnings so far apart; 0: single positions.
  Index window = 0, step = 0;
};

/// One kernel of the text. The axes are indices into KernelSpec::axes, -1 where there is none.
struct SpecTerm {
  const KernelKind* kind = nullptr;
  std::int32_t view = -1;                                      ///< -1: no `@`, once per view
  FeatureSubset subset{};                                      ///< empty: all
  std::array<int, kMostParameters> parameters = {-1, -1, -1};  ///< in the order of the kind
  int file = -1;
  int each = -1;  ///< the features of the `each` around it
  std::size_t position = 0;
};

struct KernelSpec {
  std::vector<SpecAxis> axes;
  std::vector<SpecTerm> terms;
  std::vector<Composite::Node> nodes;  ///< how the terms are combined, in postfix order
  std::string name;                    ///< `name=`, or empty
};

/// True when the kernel is computed from the features of a view, so that `@` and `each` mean something to it.
inline bool UsesFeatures(const KernelKind& kind) { return kind.base->source != BaseQuantity::Source::kFile; }

}  // namespace kweave

#endif  // KWEAVE_KERNEL_KERNEL_SPEC_H_
