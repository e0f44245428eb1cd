// Solves     the small problems of theta >= 0, (1 - share) ||theta||_1 + share ||theta||_2 <= 1, 0 <= share
//            <= 1.
// Method     the largest theta' q is the root z of ||max(q - z (1 - share), 0)||_2 = z share: a sum of two
//            norms has as dual ball the sum of theirs. Kernels with q_m <= z (1 - share) get no weight, so it
//            is sparse as p = 1 is, and shares weight among alike kernels as p = 2 does.
// Takes and  as regularizer.h says.
// returns
// Holds      theta is feasible.
// Costs      some tens of passes over M values.
#ifndef KWEAVE_REGULARIZER_ELASTIC_NORM_H_
#define KWEAVE_REGULARIZER_ELASTIC_NORM_H_

#include <span>
#include <string>

#include "regularizer/regularizer.h"

namespace kweave {

class ElasticNorm : public Regularizer {
 public:
  /// `share` is that of the l2-norm. Throws Error(kUsage) unless above 0, at most 1.
  explicit ElasticNorm(double share);

  double DualTerm(std::span<const double> q) const override;
  void BestResponse(std::span<const double> q, std::span<double> theta) const override;
  void Start(std::span<double> theta) const override;
  void MakeFeasible(std::span<double> theta) const override;

 private:
  double Norm(std::span<const double> theta) const;
  double Dual(std::span<const double> q) const;

  double share_;
};

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_ELASTIC_NORM_H_
