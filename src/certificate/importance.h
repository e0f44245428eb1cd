// Solves   where the kernel weights can be at an optimum: for every kernel, or part of the kernels, an
//          interval that holds the sum of its weights at every optimal theta, and one that holds its share of
//          the sum of all.
// Method   a dual point with L and q and any upper bound P on the optimum say that every optimal theta lies
//          in {1/2 theta' q - r(theta) >= L - P} (docs/dev/notation.md, "Where the weights can be"). By
//          Lagrange, c' theta <= (R*(q + 2 t c) - (L - P)) / t there for every t > 0, and the best t is found
//          by a search in one variable; c is an indicator, or minus one, or c - x 1 for a share above x. Sets
//          of several dual points intersect.
// Takes    a regulariser and a certificate, which holds P and the dual points.
// Holds    no interval is too small, whatever t was found: every t gives a bound. Rounding is on the safe
//          side.
// Costs    for a part some ten to forty values of R*, each at the cost of the part where R* is a norm; for
//          few kernels as many evaluations more for the shares. Dual terms that are no norm are searched for
//          up to kMostSlowKernels kernels.
#ifndef KWEAVE_CERTIFICATE_IMPORTANCE_H_
#define KWEAVE_CERTIFICATE_IMPORTANCE_H_

#include <span>
#include <string>
#include <vector>

#include "certificate/certificate.h"
#include "kweave/index.h"
#include "kweave/summary.h"
#include "regularizer/regularizer.h"

namespace kweave {

/// Sets of kernels whose weights are added up.
using KernelParts = std::vector<std::vector<Index>>;

/// What is known of the weights at every optimum.
struct Importance {
  std::vector<WeightInterval> weights;  ///< of every kernel or part; empty where nothing can be said
  std::vector<WeightInterval> shares;   ///< of the sum of all weights
  WeightInterval total;                 ///< this sum
  std::string reason;                   ///< why nothing can be said

  bool is_known() const { return !weights.empty(); }
};

/// For every kernel; for every one of the parts.
Importance FindImportance(const Regularizer& regularizer, const Certificate& certificate);
Importance FindImportance(const Regularizer& regularizer, const Certificate& certificate,
                          const KernelParts& parts);

/// That of the mean of the weights of several machines.
Importance MeanImportance(std::span<const Importance> machines);

/// How far, at most, the shares are from those of theta, given as they stand; infinite where nothing is
/// known.
double ShareError(const Importance& importance, std::span<const double> theta);

}  // namespace kweave

#endif  // KWEAVE_CERTIFICATE_IMPORTANCE_H_
