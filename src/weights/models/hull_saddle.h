// Solves   min over theta, max over w of  l' w - 1/2 sum_m theta_m w' B_m w + rho/2 sum_m d_m (theta_m -
// c_m)^2,
//          subject to  theta >= 0, sum theta = 1,  w >= 0, sum w = 1,  all B_m positive semidefinite; where
//                      there are
//          upper bounds, theta <= upper.
// Method   primal-dual interior points for both players at once, predictor and corrector (Mehrotra 1992).
//          Whatever the number K of theta, a step factors a matrix of the T entries of w only.
// Takes    the pieces of the formula, of order one; returns both players.
// Holds    theta and w are feasible to rounding.
// Costs    10 to 30 steps of about 2 K T^2 multiplications.
#ifndef KWEAVE_WEIGHTS_MODELS_HULL_SADDLE_H_
#define KWEAVE_WEIGHTS_MODELS_HULL_SADDLE_H_

#include <cstddef>
#include <vector>

namespace kweave {

struct HullProblem {
  std::vector<double> l;  ///< T values
  std::vector<double> B;  ///< K matrices T x T
  double rho = 0;
  std::vector<double> c, d;   ///< K values each; not read when rho is zero
  std::vector<double> upper;  ///< none, or K values above zero whose sum is above one
};

struct HullPoint {
  std::vector<double> theta;  ///< empty when the numbers do not allow a solution
  std::vector<double> w;
  double slope =
      0;  ///< along theta_m, of those inside their bounds; no less at zero and no more at an upper bound
};

HullPoint SolveHull(const HullProblem& problem, double precision);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_HULL_SADDLE_H_
