// Solves   how far, at most, a machine with one output per class is from the optimum (docs/dev/notation.md,
//          "Many classes").
// Method   weak duality, as certificate.h: P of any theta, beta and biases lies above the optimum, D of any
//          feasible beta below it. A dual point is first brought into its bounds and sums, then scaled by the
//          factor in [0, 1] that serves D best; the function of beta and its biases by the factor that serves
//          P best.
// Takes    the kernels on pairs of sample and class, and an answer; returns both bounds, with biases and the
//          factor for P.
// Holds    what certificate.h holds. The gap is never too small, whatever biases it was found with.
// Costs    one expansion, or two when the dual point is another one. Shares nothing with the solver it
//          judges.
#ifndef KWEAVE_CERTIFICATE_JOINT_CERTIFICATE_H_
#define KWEAVE_CERTIFICATE_JOINT_CERTIFICATE_H_

#include <span>

#include "certificate/certificate.h"
#include "gram/gram.h"
#include "loss/joint_risk.h"

namespace kweave {

/// `gram` is over pairs, class after class, and so are beta and dual_beta.
Certificate CertifyJoint(Gram& gram, const JointRisk& risk, const Regularizer& regularizer,
                         std::span<const double> theta, std::span<const double> beta,
                         std::span<const double> dual_beta);

}  // namespace kweave

#endif  // KWEAVE_CERTIFICATE_JOINT_CERTIFICATE_H_
