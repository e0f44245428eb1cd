#include "kweave/nearest_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace kweave {
namespace {

/// Optimal string alignment distance over three rolling rows.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string_view NearestName(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  std::size_t fewest = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    // The difference in length is a lower bound, and keeps the work small on absurdly long input.
    const std::size_t longer = std::max(name.size(), candidate.size());
    if (longer - std::min(name.size(), candidate.size()) >= fewest || longer > 200) continue;
    const std::size_t edits = EditDistance(name, candidate);
    if (edits < fewest) {
      fewest = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string NameHint(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view nearest = NearestName(name, candidates);
  if (!nearest.empty()) return fmt::format("; did you mean \"{}\"?", nearest);
  constexpr std::size_t kShown = 20;  // some three lines of a terminal; all names of every table fit
  const auto shown = candidates.first(std::min(candidates.size(), kShown));
  return fmt::format("; expected one of {}{}", fmt::join(shown, ", "),
                     candidates.size() > kShown ? ", ..." : "");
}

}  // namespace kweave
