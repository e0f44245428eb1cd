// Solves   how far, at most, P(theta, beta) is from the optimum, for every loss and regulariser
//          (docs/dev/notation.md).
// Method   weak duality: P of any theta and beta lies above the optimum, D of any feasible beta below it.
//          A dual point is first brought into its intervals and to its sum, then, where 0 is feasible too,
//          scaled by the factor in [0, 1] that serves D best.
// Takes    the kernels and an answer, from whatever source; returns both bounds, with the bias that serves
//          P best.
// Holds    with positive semidefinite kernels the gap is never smaller than the true error: the error of
//          tables is taken at its worst, rounding by a few units in the last place. NaN and infinite values
//          give an infinite gap.
// Costs    one pass over the kernels, for both dual points where they differ, and a row for each sample whose
//          output was found roughly and must be found again.
// Shares   the evaluation of kernels, losses and regularisers with the solvers it judges, and none of their
//          code; what shares neither is verify/verify.h.
#ifndef KWEAVE_CERTIFICATE_CERTIFICATE_H_
#define KWEAVE_CERTIFICATE_CERTIFICATE_H_

#include <span>
#include <vector>

#include "gram/gram.h"
#include "loss/risk.h"
#include "regularizer/regularizer.h"

namespace kweave {

/// What a feasible dual point says of theta at every optimum, where weights are minimised over:
/// 1/2 theta' q - r(theta) >= L - P (docs/dev/notation.md, "Where the weights can be").
struct WeightCut {
  double linear = 0;               ///< L, rounding at its worst
  std::vector<double> quadratics;  ///< q at its largest, given the error of tables
  bool may_scale = true;           ///< s times the point is feasible, too, for s from 0 to 1
};

/// How far a machine is from the optimum, at most.
struct Certificate {
  double primal = 0;               ///< an upper bound on the optimum
  double dual = 0;                 ///< a lower bound on it
  double gap = 0;                  ///< primal - dual, the error bounds of approximations included
  double relative_gap = 0;         ///< gap / max(|primal|, |dual|, Risk::least_size, tiny)
  double bias = 0;                 ///< minimises the primal
  std::vector<double> biases;      ///< one per class instead, for machines with several outputs
  double scale = 1;                ///< factor on beta: what the primal, the biases, q and outputs belong to
  std::vector<double> quadratics;  ///< q_m = beta' K_m beta
  /// f(x_i) without bias; up to kRoughOutput away where a sample costs nothing and others were said to count.
  std::vector<double> outputs;
  /// The feasible dual point behind `dual`, which may still be scaled down; empty: beta itself.
  std::vector<double> dual_beta = {};
  /// Of the dual point, and of beta where it is another one and feasible.
  std::vector<WeightCut> cuts = {};
};

/// The Risk::least_size of a one-class machine: what beta on one sample alone costs, on average, times what
/// is small beside it. 0 where the regulariser sets no finite price on that.
double LeastSize(Gram& gram, const Regularizer& regularizer);

/// Certifies a machine with any loss and regulariser, from the kernels alone. `beta` defines
/// the function f = sum_m theta_m K_m beta; `dual_beta` (may be the same) the dual bound. Values outside the
/// feasible set are brought into it first, at the cost of a larger gap, never of a wrong one.
Certificate Certify(Gram& gram, const Risk& risk, const Regularizer& regularizer,
                    std::span<const double> theta, std::span<const double> beta,
                    std::span<const double> dual_beta);

/// One of several machines on the same kernels.
struct JudgedMachine {
  const Risk* risk = nullptr;
  const Regularizer* regularizer = nullptr;
  std::span<const double> theta, beta, dual_beta;
  /// Samples, ascending, that may have a loss; empty: any may. Outputs of others are found roughly at first,
  /// and again where it turns out that they matter.
  std::span<const Index> counted = {};
};
inline constexpr double kRoughOutput = 0.02;  ///< how wrong these may be

/// The certificates of all of them, from one pass over the kernels where that is possible: a base quantity
/// then serves every machine. Each is as Certify gives it where all samples count.
std::vector<Certificate> CertifyAll(Gram& gram, std::span<const JudgedMachine> machines);

/// Certifies several machines with one theta common to them, whose objectives are added up: the regulariser
/// counts once, at the sum of their quadratics. `gram` is over pairs of sample and machine, machine after
/// machine, and so are the betas; the certificate holds a bias for each machine.
Certificate CertifyCommon(Gram& gram, std::span<const Risk> risks, const Regularizer& regularizer,
                          std::span<const double> theta, std::span<const double> beta,
                          std::span<const double> dual_beta);

}  // namespace kweave

#endif  // KWEAVE_CERTIFICATE_CERTIFICATE_H_
