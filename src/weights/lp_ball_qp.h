// Solves   minimise c' t + 1/2 t' H t subject to t >= 0, sum_m t_m^p <= 1, with H positive semidefinite.
// Method   primal-dual interior points (Nocedal, Wright: Numerical Optimization, 2nd ed., chapter 19), one
//          Newton system with a positive definite matrix per step.
// Takes    c, H (row after row) and a nonnegative start; returns t, strictly positive.
// Holds    1 <= p < about 20: larger powers of t leave the range of double,
//          and there the analytic update needs no help.
// Costs    10 to 40 steps of M^3 / 3 multiplications; memory for one more M x M matrix.
#ifndef KWEAVE_WEIGHTS_LP_BALL_QP_H_
#define KWEAVE_WEIGHTS_LP_BALL_QP_H_

#include <span>
#include <vector>

namespace kweave {

/// Empty when the numbers do not allow a solution.
std::vector<double> MinimizeOverLpBall(std::span<const double> c, std::span<const double> H, double p,
                                       std::span<const double> start);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_LP_BALL_QP_H_
