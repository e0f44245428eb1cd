// Solves   min over t, max over x of  c' d + 1/2 d' H d + r' x - 1/2 x' A x - d' G' x,  d = t - s,
//          subject to  t >= 0,  sum_m t_m^p <= 1,  lower <= x <= upper,  sum x = 0,  A and H
//          positive semidefinite.
// Method   primal-dual interior points for both players at once (Nocedal, Wright: Numerical Optimization, 2nd
//          ed., chapter 19): x is eliminated from every Newton system by a Cholesky factor of A + D, with D
//          diagonal and positive, what is left in t is positive definite too.
// Takes    the pieces of the formula (matrices row after row), bounds on x that hold 0, and how small the
//          complementarity, a bound on the error of the value, has to become; returns t and x.
// Holds    1 <= p < infinity; for p above 128, where the ball is written by its norm, the problem must be
//          curved. For p = 1 weights that vanish at the solution are zero.
// Costs    10 to 30 steps of S^3 / 3 + S^2 K + S K^2 + K^3 / 3 multiplications for S entries of x and K of t;
//          memory 8 (2 S^2 + 2 S K + K^2) bytes.
#ifndef KWEAVE_WEIGHTS_MODELS_SADDLE_QP_H_
#define KWEAVE_WEIGHTS_MODELS_SADDLE_QP_H_

#include <span>
#include <vector>

namespace kweave {

struct SaddleProblem {
  std::vector<double> c, s;             ///< K values
  std::vector<double> r, lower, upper;  ///< S values
  std::vector<double> A, G, H;          ///< S x S, S x K and K x K
};

struct SaddlePoint {
  std::vector<double> t;  ///< empty when the numbers do not allow a solution
  std::vector<double> x;
};

SaddlePoint SolveSaddle(const SaddleProblem& problem, double p, double precision);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_SADDLE_QP_H_
