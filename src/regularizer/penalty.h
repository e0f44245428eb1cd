// What the penalty forms of all norms have in common: along a ray theta = t d, all is a function of t.
#ifndef KWEAVE_REGULARIZER_PENALTY_H_
#define KWEAVE_REGULARIZER_PENALTY_H_

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "kweave/error.h"

namespace kweave {

/// Squares of norms bend without bound as a weight goes to 0; weights six orders of magnitude below the
/// largest change no gap that is asked for.
inline constexpr double kPenaltyStepShare = 1e-6;

/// mu, or Error(kUsage) unless it is finite and above 0.
inline double RequirePenalty(double mu) {
  if (mu > 0 && std::isfinite(mu)) return mu;
  throw Error(ErrorKind::kUsage, fmt::format("penalty is {}, but must be above 0", mu));
}

/// sum_m u_m^2 / d_m with u_m^2 = theta_m^2 q_m: twice what the machine costs at t = 1.
inline double SumAlongRay(std::span<const double> theta, std::span<const double> q,
                          std::span<const double> d) {
  double sum = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    if (d[m] > 0) sum += theta[m] * (theta[m] / d[m]) * q[m];
  }
  return sum;
}

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_PENALTY_H_
