#include "kernel/kernel_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "kernel/chi2.h"
#include "kernel/cosine.h"
#include "kernel/intersection.h"
#include "kernel/laplacian.h"
#include "kernel/linear.h"
#include "kernel/local_alignment.h"
#include "kernel/matern.h"
#include "kernel/periodic.h"
#include "kernel/poly.h"
#include "kernel/precomputed.h"
#include "kernel/rational_quadratic.h"
#include "kernel/rbf.h"
#include "kernel/tanimoto.h"
#include "kernel/wd.h"
#include "kernel/wds.h"
#include "kernel/word_kernels.h"

namespace kweave {
namespace {

// One line per kernel.
// clang-format off
constexpr const KernelKind* kTable[] = {
    &kLinear,
    &kPoly,
    &kRbf,
    &kLaplacian,
    &kMatern,
    &kRationalQuadratic,
    &kPeriodic,
    &kCosine,
    &kChi2,
    &kIntersection,
    &kTanimoto,
    &kWd,
    &kWds,
    &kSpectrum,
    &kMismatch,
    &kGapped,
    &kMotif,
    &kLocalAlignment,
    &kPrecomputed,
    &kJointMatrix,
};
// clang-format on

/// The parameters with their defaults, as one would write them in the kernel language.
std::string Signature(const KernelKind& kind) {
  if (kind.base->source == BaseQuantity::Source::kFile) return fmt::format("{}(file=PATH)", kind.name);
  if (kind.parameters.empty()) return std::string(kind.name);
  std::vector<std::string> values;
  for (const ParameterRule& rule : kind.parameters) {
    if (rule.alternative >= 0 && rule.initial == "0") continue;
    values.push_back(fmt::format("{}={}", rule.name, rule.initial));
  }
  return fmt::format("{}({})", kind.name, fmt::join(values, ", "));
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
