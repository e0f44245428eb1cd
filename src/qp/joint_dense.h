// A second-order solver for joint machines of few samples and classes, where steps on few samples get
// nowhere.
//
// Solves     the problem of qp/joint.h, with the kernel on pairs of sample and class whole in double
//            precision.
// Method     a primal-dual interior point with Mehrotra's predictor and corrector, as in qp/dense.h, on a_iu
//            = -beta_iu, u != y_i, each at least 0, of which a sample has the sum s_i <= cap; of a loss that
//            grows on either side a_iu is the difference of two such variables ("parts"), and s_i the sum of
//            both. Prices of parts and sums over a sample make blocks B_i = diag(price / part) + c_i 1 1';
//            with B_i^-1 = R_i R_i' in closed form, a step is R t, where (I + R' H R) t = right-hand side, H
//            the kernel between the a_iu. Thin factors of the blocks leave a system over the a_iu.
// Takes and  risk, kernel and a feasible beta; returns the beta with the smallest gap seen, never a worse one
//            than it was
// returns    given, and that relative gap.
// Costs      N^3 / 3 per step, N = n (m - 1), some 10 to 60 steps; 3 N^2 doubles beside the kernel.
#ifndef KWEAVE_QP_JOINT_DENSE_H_
#define KWEAVE_QP_JOINT_DENSE_H_

#include <functional>
#include <vector>

#include "kweave/index.h"
#include "loss/joint_risk.h"

namespace kweave {

/// Up to this many n (m - 1) a step takes a few tenths of a second at most.
inline constexpr Index kMostJointPairs = 1200;

/// `kernel`: (n m) x (n m), row after row, pairs class after class as in beta. `proceed` is asked between
/// steps; false ends them.
double SolveJointDense(const JointRisk& risk, std::vector<double> kernel, double relative_gap,
                       std::vector<double>& beta, const std::function<bool()>& proceed);

}  // namespace kweave

#endif  // KWEAVE_QP_JOINT_DENSE_H_
