#ifndef KWEAVE_ANALYSIS_REQUIRE_NUMBERS_H_
#define KWEAVE_ANALYSIS_REQUIRE_NUMBERS_H_

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "kweave/error.h"

namespace kweave {

/// Throws Error(kUsage) where a prediction is NaN: scores compare and sort, and NaN has no place in any
/// order.
inline void RequireNumbers(std::span<const double> predictions) {
  const auto bad = std::ranges::find_if(predictions, [](double value) { return std::isnan(value); });
  if (bad == predictions.end()) return;
  throw Error(ErrorKind::kUsage, fmt::format("prediction {} is not a number", bad - predictions.begin() + 1));
}

}  // namespace kweave

#endif  // KWEAVE_ANALYSIS_REQUIRE_NUMBERS_H_
