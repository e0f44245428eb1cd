#ifndef KWEAVE_KERNEL_SMOOTH_IN_FEATURE_H_
#define KWEAVE_KERNEL_SMOOTH_IN_FEATURE_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "compute/cpu/family_loops.h"
#include "kweave/index.h"

namespace kweave {

/// How many Chebyshev polynomials in s and in t keep a kernel k(s,t) on [-1,1] within `error`
/// (SmoothInFeature::terms); more than kMostTableTerms where so many are not enough.
///
/// On the Bernstein ellipse with parameter rho, whose half axes are a = (rho + 1/rho)/2 and b = (rho -
/// 1/rho)/2, let |k(s,t)| less a constant be at most F for all s there and t in [-1,1]: log_bound(a, b) = log
/// F, infinity where there is no bound. Interpolation by N nodes in s errs by at most 4 F rho^(1-N) / (rho -
/// 1), for any rho > 1. The second interpolation, in t, errs by as much, and multiplies what the first one
/// errs by no more than the Lebesgue constant 1 + 2/pi log(N).
template <class LogBound>
Index TermsWithin(double error, const LogBound& log_bound) {
  const double lebesgue = 1 + 2 / std::numbers::pi * std::log(static_cast<double>(kMostTableTerms));
  double least = std::numeric_limits<double>::infinity();
  // Ellipses from thin to far wider than any that pays, in steps of 5 %: any one gives a bound, the best of
  // them is taken.
  for (double log_rho = 1.0 / 64; log_rho < 16; log_rho *= 1.05) {
    const double log_factor = log_bound(std::cosh(log_rho), std::sinh(log_rho)) +
                              std::log(4 * (1 + lebesgue) / (std::exp(log_rho) - 1));
    least = std::min(least, 1 + (log_factor - std::log(error)) / log_rho);
  }
  return static_cast<Index>(std::ceil(std::clamp(least, 1.0, kMostTableTerms + 1.0)));
}

}  // namespace kweave

#endif  // KWEAVE_KERNEL_SMOOTH_IN_FEATURE_H_
