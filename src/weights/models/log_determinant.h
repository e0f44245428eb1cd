// Solves     the small problems of a constraint on the weights with a penalty on the learned kernel matrix,
//            r(theta) = -mu log det(K(theta) + ridge I), which keeps the kernel from losing rank.
// Method     by Cholesky's factors: the derivative is -mu tr((K + ridge I)^-1 dK/dtheta_m). For sums of
//            kernels r is convex, and every theta it was evaluated at gives a tangent below it. What the
//            constraint's dual term makes of a tangent bounds that of r, so certificates hold; it is tight
//            where theta is the answer.
// Takes and  as regularizer.h says; the matrix and traces with its derivatives come from two calls.
// returns
// Holds      the tangents of the last theta's. Without a sum the dual term is infinite: there is no bound.
// Costs      O(n^3) for every new theta, and the traces: for small n.
#ifndef KWEAVE_WEIGHTS_MODELS_LOG_DETERMINANT_H_
#define KWEAVE_WEIGHTS_MODELS_LOG_DETERMINANT_H_

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gram/gram.h"
#include "regularizer/regularizer.h"

namespace kweave {

/// A kernel matrix as a function of its parameters.
struct KernelMatrixFunction {
  Index samples = 0;
  bool is_sum = true;
  /// matrix = K(theta), row after row.
  std::function<void(std::span<const double> theta, std::span<double> matrix)> fill;
  /// quadratics[m] = a' (dK / dtheta_m) a.
  std::function<void(std::span<const double> theta, std::span<const double> a, std::span<double> quadratics)>
      quadratics;
};

/// `gram` must outlive what is returned.
KernelMatrixFunction MatrixOf(Gram& gram);

class LogDeterminant : public Regularizer {
 public:
  /// Beside `constraint`, which has a projection and no value of its own. Throws Error(kUsage) unless mu,
  /// ridge > 0 and the samples are few enough.
  LogDeterminant(RegularizerPointer constraint, double mu, double ridge, KernelMatrixFunction matrix);

  double Evaluate(std::span<const double> theta, std::span<double> gradient) const override;
  /// An upper bound on it.
  double DualTerm(std::span<const double> q) const override;
  void BestResponse(std::span<const double> q, std::span<double> theta) const override;
  void Start(std::span<double> theta) const override { constraint_->Start(theta); }
  void MakeFeasible(std::span<double> theta) const override { constraint_->MakeFeasible(theta); }
  using Regularizer::Project;
  void Project(std::span<double> theta, std::span<const double> scales) const override {
    constraint_->Project(theta, scales);
  }

 private:
  struct Tangent {
    std::vector<double> theta;
    std::vector<double> traces;  // tr((K + ridge I)^-1 dK/dtheta_m)
    double value = 0;            // r
  };
  const Tangent& At(std::span<const double> theta) const;
  std::vector<double> Shifted(const Tangent& tangent, std::span<const double> q) const;

  RegularizerPointer constraint_;
  double mu_, ridge_;
  KernelMatrixFunction matrix_;
  mutable std::deque<Tangent> tangents_;  // newest last: what a call finds is kept for the next
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_LOG_DETERMINANT_H_
