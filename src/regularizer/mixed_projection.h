// Solves     the theta nearest to a given one with theta >= 0, || (||theta_g||_q)_g ||_p <= 1 over groups g,
//            1 <= p, q <= infinity.
// Method     at the solution the values v of a group with scales s are shrunk to  x + kappa s x^(q-1) = v  (q
//            = infinity: cut at a level), with kappa = lambda N^(p-q), N = ||x||_q. For a given lambda every
//            group has one such kappa, as kappa N^(q-1) rises and N falls with it; lambda is where the norm
//            of all N is 1. Both by secants inside a bracket. At p = 1 a group goes to zero when lambda
//            reaches ||v / s||_q*. For p = infinity groups are on their own, for p = q there are none.
// Takes and  the values, overwritten by the projection.
// returns
// Holds      feasible up to 1e-11; the caller scales.
// Costs      about 10 times 10 passes over all values; of divisions for q = 1, 2, infinity, of a few powers
//            else.
#ifndef KWEAVE_REGULARIZER_MIXED_PROJECTION_H_
#define KWEAVE_REGULARIZER_MIXED_PROJECTION_H_

#include <span>

namespace kweave {

/// Overwrites theta by the x of the set above with the smallest sum_m (x_m - theta_m)^2 / scales_m; no
/// scales: all 1. `groups` holds for every value the number of its group, from 0 on.
void ProjectOntoMixedBall(double p, double q, std::span<const int> groups, std::span<double> theta,
                          std::span<const double> scales = {});

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_MIXED_PROJECTION_H_
