#include "kernel/kernel_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/chi2.h"
#include "kernel/intersection.h"
#include "kernel/laplacian.h"
#include "kernel/linear.h"
#include "kernel/poly.h"
#include "kernel/precomputed.h"
#include "kernel/rbf.h"
#include "kernel/tanimoto.h"

namespace kweave {
namespace {

constexpr const KernelKind* kTable[] = {
    &kLinear, &kPoly, &kRbf, &kLaplacian, &kChi2, &kIntersection, &kTanimoto, &kPrecomputed, &kJoint,
};

/// The parameters with their defaults, as one would write them in the kernel language.
std::string Signature(const KernelKind& kind) {
  if (kind.base->source == BaseQuantity::Source::kFile) return fmt::format("{}(file=PATH)", kind.name);
  switch (kind.shape) {
    case Shape::kIdentity:
      return std::string(kind.name);
    case Shape::kExponential:
      return fmt::format("{}(gamma={})", kind.name, kind.default_gamma);
    case Shape::kPower:
      return fmt::format("{}(degree={}, gamma={}, coef0={})", kind.name, kind.defaults.degree,
                         kind.default_gamma, kind.defaults.coef0);
  }
  return {};
}

}  // namespace

std::span<const KernelKind* const> KernelTable() { return kTable; }

const KernelKind* FindKernelKind(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, [](const KernelKind* kind) { return kind->name; });
  return found == std::end(kTable) ? nullptr : *found;
}

std::string KernelHelp() {
  std::string text;
  for (const KernelKind* kind : kTable) text += fmt::format("{:<36} {}\n", Signature(*kind), kind->sentence);
  return text;
}

}  // namespace kweave
