// Solves     the small problems of block norms of the parts w_m over groups of kernels,
//            R = 1/2 || (||u_g||_Q)_g ||_P^2 with u_m = ||w_m||, 1 <= P, Q <= infinity (Kloft 2011, 2.3.5);
//            one group with Q = P is the block norm P (problems II.3, II.4 and proposition 3.1).
// Method     closed forms by Hoelder's inequality. Up to 2, ||u||_P^2 is the minimum of sum_m u_m^2 / theta_m
//            over ||theta||_p <= 1, p = P / (2 - P); above 2 it is a maximum over 1 / theta, and the minimum
//            is that of the dual side. Both are theta_m = (u_m / ||u||)^(2-P) at the solution, in terms of q
//            (sqrt(q_m) / ||sqrt(q)||)^(P*-2).
// Takes and  as regularizer.h says.
// returns
// Holds      with P, Q <= 2 theta is feasible when || (||theta_g||_q)_g ||_p <= 1, else when theta >= 0. With
//            an exponent above 2 a part without a quadratic would get an unbounded weight: it is held below
//            that of a part 1e-6 as large as all.
// Costs      O(M).
#ifndef KWEAVE_REGULARIZER_MIXED_NORM_H_
#define KWEAVE_REGULARIZER_MIXED_NORM_H_

#include <span>
#include <string>
#include <vector>

#include "regularizer/regularizer.h"

namespace kweave {

class MixedNorm : public Regularizer {
 public:
  /// `groups` holds for every kernel the number of its group, from 0 on. Throws Error(kUsage) unless 1 <= P,
  /// Q <= infinity. `spread` times the mean of all q_m is added to each of them in the dual term, which
  /// bounds the weights of parts that vanish: 0 but for smoothing.
  MixedNorm(std::vector<int> groups, double P, double Q, double spread = 0);

  double Primal(std::span<const double> theta, std::span<const double> q) const override;
  double DualTerm(std::span<const double> q) const override;
  void BestResponse(std::span<const double> q, std::span<double> theta) const override;
  void Start(std::span<double> theta) const override;
  void MakeFeasible(std::span<double> theta) const override;
  void AnalyticUpdate(std::span<const double> theta, std::span<const double> q,
                      std::span<double> updated) const override;
  using Regularizer::Project;
  void Project(std::span<double> theta, std::span<const double> scales) const override;
  /// At the maximum of the dual term every group with quadratics has a norm that these tell; with Q =
  /// infinity no part of it is longer than that.
  bool Shorten(std::span<const double> q, std::span<double> theta) const override;
  RegularizerPointer Smoothed(double relative_error) const override;

  /// The weight of every group: theta_m = weight of its group times a weight within the group, of norm one.
  std::vector<double> GroupWeights(std::span<const double> theta) const;

  /// The norm that is at most 1 for feasible theta, exponents at most 2.
  double ThetaNorm(std::span<const double> theta) const;
  /// Writes its gradient too: where several weights are largest and an exponent is 2, a subgradient.
  double ThetaNormGradient(std::span<const double> theta, std::span<double> gradient) const;

 private:
  struct Norms {
    std::vector<double> of_group;
    double whole;
  };
  std::vector<double> RootsOf(std::span<const double> q) const;
  Norms Measure(std::span<const double> x, double inner, double outer) const;

  std::vector<int> groups_;
  std::size_t group_count_ = 0;
  double P_, Q_, spread_;
};

/// The block norm P on all parts alike. Up to 2 it is the constraint with p = P / (2 - P).
RegularizerPointer BlockNorm(double P, std::size_t kernels);

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_MIXED_NORM_H_
