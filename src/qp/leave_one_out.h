// Solves   what a machine with the squared loss says about every sample when it is trained without that
//          sample.
// Method   closed form (Cawley, Talbot: Fast exact leave-one-out cross-validation of sparse least-squares
//          support vector machines, 2004): without sample i the output at x_i is y_i - beta_i / (A^-1)_ii,
//          where A is K + C^-1, bordered by ones when there is a bias.
// Takes    the risk, rows of K and the beta that solves the problem; returns one output per sample, bias
//          included.
// Holds    exact for this K: the kernel weights are those learned from all samples.
// Costs    n^2 doubles and 2 n^3 / 3 multiplications.
#ifndef KWEAVE_QP_LEAVE_ONE_OUT_H_
#define KWEAVE_QP_LEAVE_ONE_OUT_H_

#include <span>
#include <vector>

#include "loss/risk.h"
#include "qp/dual_problem.h"

namespace kweave {

/// The loss of `risk` must be the squared one. Empty when K + C^-1 is not positive definite in floating
/// point.
std::vector<double> LeaveOneOut(const Risk& risk, RowSource<double>& rows, std::span<const double> beta);

}  // namespace kweave

#endif  // KWEAVE_QP_LEAVE_ONE_OUT_H_
