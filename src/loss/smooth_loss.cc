#include "loss/smooth_loss.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/constants.h"

namespace kweave {

namespace {

constexpr double kSlow = 0.1;  // the first derivative should shrink at least this much in a Newton step

}  // namespace

double SmoothLoss::BestBias(std::span<const double> f, std::span<const double> y, std::span<const double> C,
                            double slope) const {
  // The derivative is negative at its lower end, positive at its upper.
  Interval bracket{-kInfinity, kInfinity};
  double b = 0;
  double previous = kInfinity;  // first derivative before the last Newton step
  double reach = 1;             // of the next step while one end is open
  for (int step = 0; step < kMostRootSteps; ++step) {
    double first = slope, magnitude = std::abs(slope), second = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
      const LossDerivatives at = DerivativesAt(f[i] + b, y[i]);
      first += C[i] * at.first;
      magnitude += C[i] * std::abs(at.first);
      second += C[i] * at.second;
    }
    if (std::abs(first) <= kFewRoundings * magnitude) return b;
    (first < 0 ? bracket.lower : bracket.upper) = b;
    const double width = bracket.upper - bracket.lower;
    if (width <= kFewRoundings * std::abs(b)) return b;
    // Where the loss falls off exponentially, Newton steps are short however far there is to go.
    const bool is_slow = std::abs(first) > kSlow * std::abs(previous);
    previous = is_slow ? kInfinity : first;
    double next = is_slow ? kInfinity : b - first / second;  // not finite where the second is zero
    if (std::isinf(width) && !(std::abs(next - b) <= reach)) next = first < 0 ? b + reach : b - reach;
    if (!(next > bracket.lower && next < bracket.upper)) next = std::midpoint(bracket.lower, bracket.upper);
    if (next == b || !std::isfinite(next)) return b;
    reach *= 2;
    b = next;
  }
  return b;
}

}  // namespace kweave
