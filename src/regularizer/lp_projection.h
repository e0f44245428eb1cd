// Solves     the theta nearest to a given one (in the Euclidean norm) with theta >= 0, ||theta||_p <= 1, 1 <=
//            p <= infinity.
// Method     negative values become 0. Inside the ball that is all; for p = infinity clipping is, for p = 2
//            scaling. For p = 1 every value falls by the same threshold times its scale: Newton steps on the
//            sum, which is convex in the threshold, rise to it. Else x + lambda x^(p-1) = v for every value v
//            (lambda times its scale), and ||x||_p = 1 gives lambda: Newton steps on 1 / ||x||_p, which is
//            straight in lambda for p = 2, kept in a bracket; the inner equation by regularizer/shrinkage.h.
// Takes and  the values, overwritten by the projection.
// returns
// Holds      the result is feasible up to rounding: a last scaling sees to that.
// Costs      O(M) for p = 1, 2, infinity; else 5 to 10 passes of a few powers for each value.
#ifndef KWEAVE_REGULARIZER_LP_PROJECTION_H_
#define KWEAVE_REGULARIZER_LP_PROJECTION_H_

#include <span>

namespace kweave {

/// Overwrites theta by the x of the set above with the smallest sum_m (x_m - theta_m)^2 / scales_m; no
/// scales: all 1. `p` is from 1 to infinity.
void ProjectOntoLpBall(double p, std::span<double> theta, std::span<const double> scales = {});

/// The same for x >= 0, sum x = 1.
void ProjectOntoSimplex(std::span<double> theta, std::span<const double> scales = {});

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_LP_PROJECTION_H_
