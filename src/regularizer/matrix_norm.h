// Solves     the small problems of two models with a positive definite matrix E over the kernels:
//            on the weights, theta >= 0, theta' E theta <= 1 (Kloft et al. 2011, 3.6), and
//            on the parts, R = 1/2 min over v >= u of v' E v, u_m = ||w_m|| (Kloft 2011, 2.3.6).
// Method     with theta >= 0 or v >= 0 the dual terms are small quadratic programs
//            (regularizer/nonnegative_qp.h), not the inverse norm: half the largest theta' q, and the largest
//            v' sqrt(q) - 1/2 v' E v. The minimum over v makes R rise with every part, so that it is convex
//            in w whatever signs E has; where none is negative, v = u.
// Takes and  as regularizer.h says; E row after row.
// returns
// Holds      for the weights the set is convex and theta is minimised over; for the parts theta_m = v_m /
//            sqrt(q_m).
// Costs      a few Cholesky factors of E per call.
#ifndef KWEAVE_REGULARIZER_MATRIX_NORM_H_
#define KWEAVE_REGULARIZER_MATRIX_NORM_H_

#include <span>
#include <string>
#include <vector>

#include "regularizer/regularizer.h"

namespace kweave {

class WeightMatrixNorm : public Regularizer {
 public:
  /// Throws Error(kUsage) unless E is symmetric and positive definite.
  explicit WeightMatrixNorm(std::vector<double> E);

  double DualTerm(std::span<const double> q) const override;
  void BestResponse(std::span<const double> q, std::span<double> theta) const override;
  void Start(std::span<double> theta) const override;
  void MakeFeasible(std::span<double> theta) const override;

 private:
  double Norm(std::span<const double> theta) const;

  std::vector<double> E_;
};

class PartMatrixNorm : public Regularizer {
 public:
  /// Throws Error(kUsage) unless E is symmetric and positive definite.
  explicit PartMatrixNorm(std::vector<double> E) : PartMatrixNorm(std::move(E), 0) {}

  RegularizerPointer Smoothed(double relative_error) const override;
  double Primal(std::span<const double> theta, std::span<const double> q) const override;
  double DualTerm(std::span<const double> q) const override;
  void BestResponse(std::span<const double> q, std::span<double> theta) const override;
  void Start(std::span<double> theta) const override;
  void MakeFeasible(std::span<double> theta) const override;

 private:
  PartMatrixNorm(std::vector<double> E, double spread);
  std::vector<double> RootsOf(std::span<const double> q) const;

  std::vector<double> E_;
  double spread_;  // of the q_m in the dual term, so that weights stay bounded
};

/// A graph on the kernels as a matrix: its Laplacian plus `ridge` times the identity. `links` holds the
/// weights of the edges, row after row. Throws Error(kUsage) where they are negative or not symmetric.
std::vector<double> LaplacianMatrix(std::span<const double> links, std::size_t kernels, double ridge);

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_MATRIX_NORM_H_
