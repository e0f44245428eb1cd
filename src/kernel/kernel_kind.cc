#include "kernel/kernel_kind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kweave {

bool ParameterRule::Allows(double value) const {
  if (!choices.empty()) return std::ranges::find(choices, value) != choices.end();
  if (alternative >= 0 && value == 0) return true;
  if (!std::isfinite(value) || (is_whole && value != std::floor(value))) return false;
  return (excludes_least ? value > least : value >= least) && value <= most;
}

std::string ParameterRule::Allowed() const {
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, " or "));
  if (is_whole) return fmt::format("a whole number from {} to {}", least, most);
  const std::string low = fmt::format("finite and {} {}", excludes_least ? ">" : ">=", least);
  return std::isfinite(most) ? fmt::format("{} and <= {}", low, most) : low;
}

std::optional<double> KernelKind::ConstantDiagonal(const KernelParameters& values) const {
  if (!base->is_zero_on_diagonal) return std::nullopt;
  return ShapeValue(*shape, values, 0);
}

KernelParameters PlainDefaults(const KernelKind& kind) {
  KernelParameters values{};
  for (std::size_t p = 0; p < kind.parameters.size(); ++p) {
    const std::string_view text = kind.parameters[p].initial;
    values[p] = 1;
    std::from_chars(text.data(), text.data() + text.size(), values[p]);  // words leave it as it is
  }
  return values;
}

}  // namespace kweave
