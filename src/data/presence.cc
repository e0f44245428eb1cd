#include "data/presence.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kweave {

bool LacksViews(std::span<const View> views) {
  return std::ranges::any_of(views, [](const View& view) { return view.MissingCount() > 0; });
}

void RescalePresence(std::vector<View>& views, Index count) {
  std::vector<double> factors(static_cast<std::size_t>(count), 0.0);
  for (const View& view : views) {
    for (Index i = 0; i < count; ++i) factors[static_cast<std::size_t>(i)] += view.Has(i) ? 1 : 0;
  }
  for (double& factor : factors)
    factor = factor > 0 ? std::sqrt(static_cast<double>(views.size()) / factor) : 0;
  for (View& view : views) {
    std::vector<double> presence = factors;
    for (Index i = 0; i < count; ++i) {
      if (!view.Has(i)) presence[static_cast<std::size_t>(i)] = 0;
    }
    view.presence = std::move(presence);
  }
}

}  // namespace kweave
