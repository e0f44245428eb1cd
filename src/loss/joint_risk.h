// The loss of machines with one output per class, over all samples (Zien, Ong 2007, eq. (4) and theorem 1).
//
// Solves   sum_i C_i max over u != y_i of l(t_iu), where t_iu = f_y(x_i) + b_y - f_u(x_i) - b_u is the margin
//          of sample i's class over class u. Most losses l never grow with the margin: then the smallest
//          margin has the largest of these losses. Of a loss that grows on either side (least-squares), the
//          smallest or the largest margin has it.
// Method   with one beta_iu for each sample and class, f_u = sum_j beta_ju k(x_j, .), the dual term is
//          L(beta) = sum_i Dual(beta_iy): in theorem 1 the best eta_iu are proportional to alpha_iu, so that
//          only their sum over u, which is beta_iy, is left of it. Feasible are beta_iu <= 0 for u != y_i,
//          beta_iy at most the loss's upper end (C_i for the hinge), sum over u of beta_iu = 0 and, with
//          biases, sum over i of beta_iu = 0. A loss that grows on either side, whose conjugate is quadratic,
//          Dual(s) = a s - c s^2 / 2, leaves a beta_iy - c S_i^2 / 2 with S_i = sum over u != y_i of
//          |beta_iu|; only the sums bind then, and the dual term has a corner where a beta_iu is zero.
// Takes    outputs and betas of all samples and classes, class after class: entry u n + i.
// Holds    Value(f, b) + sum beta f >= Dual(beta) for all f, b and every feasible beta.
// Costs    O(n m).
#ifndef KWEAVE_LOSS_JOINT_RISK_H_
#define KWEAVE_LOSS_JOINT_RISK_H_

#include <span>
#include <vector>

#include "kweave/index.h"
#include "loss/loss.h"

namespace kweave {

/// What the spans and the pointer refer to must outlive it.
struct JointRisk {
  const Loss* loss = nullptr;  ///< at label +1; ServesJoint
  std::span<const Index> y;    ///< class of each sample, from 0
  std::span<const double> C;   ///< positive
  Index classes = 0;           ///< at least 2
  bool has_bias = true;

  Index samples() const { return static_cast<Index>(y.size()); }
  std::size_t At(Index sample, Index output) const {
    return static_cast<std::size_t>(output * samples() + sample);
  }
  /// Whether the loss grows on either side of a margin.
  bool IsTwoSided() const { return loss->Feasible(1, 1).lower < 0; }
  /// The largest feasible beta of a sample at a class.
  double Cap(Index sample, Index output) const;

  /// The smallest difference between a sample's own class and another, and the largest where that may cost
  /// anything (else the smallest again); all outputs may be off by `error`.
  Interval Margin(Index sample, std::span<const double> f, std::span<const double> biases,
                  double error = 0) const;
  std::vector<Interval> Margins(std::span<const double> f, std::span<const double> biases,
                                double error = 0) const;
  /// What a sample with these margins costs.
  double LossOf(Index sample, Interval margins) const;
  /// Of a sample's betas over the classes: the sum of their magnitudes at all but its own.
  double OtherMagnitude(Index sample, std::span<const double> beta) const;
  /// A sample's part of L, from its beta at its own class and the sum of the magnitudes at all others.
  double DualOf(Index sample, double own_beta, double magnitude) const;
  /// The slope of this part in the beta at the own class; the magnitude stands still where the loss grows on
  /// either side.
  double OwnSlope(Index sample, double own_beta) const;
  /// Minus the curvature of this part in the magnitude, where the loss grows on either side.
  double MagnitudeCurvature(Index sample) const;
  /// From a sample's gradient of the negative dual over the classes, OwnSlope included: what raising each
  /// beta costs, and what lowering it saves. They differ at corners only. Where the loss grows on either
  /// side.
  void FindSlopes(Index sample, std::span<const double> beta, std::span<const double> gradient,
                  std::span<double> raise, std::span<double> lower) const;

  double Value(std::span<const double> f, std::span<const double> biases) const;
  /// Of a function whose margins are these times `scale`.
  double ValueAt(std::span<const Interval> margins, double scale) const;
  /// The factor on a function with these margins, biases included, at which 1/2 factor^2 square + its value
  /// is smallest, of those between 1/2 and 2. Where most samples lie on the margin, a function that is a
  /// little too small pays for all of them.
  double BestScale(std::span<const Interval> margins, double square) const;
  /// L(beta), for feasible beta.
  double Dual(std::span<const double> beta) const;
  /// The factor on a feasible beta at which L - 1/2 factor^2 square is largest, of those up to 2 that keep it
  /// feasible.
  double BestDualScale(std::span<const double> beta, double square) const;
  /// Biases that serve the outputs of a feasible beta: such that no class pays to raise at the cost of
  /// another by more than it must (docs/dev/notation.md). 0 without biases.
  std::vector<double> BiasesFor(std::span<const double> beta, std::span<const double> f) const;
  /// Brings beta into its bounds and to its sums. Leaves sums alone that are right up to rounding.
  void MakeFeasible(std::span<double> beta) const;
};

/// Whether a loss may be used with several outputs: it never grows with the margin, or its conjugate is
/// quadratic.
bool ServesJoint(const Loss& loss);

}  // namespace kweave

#endif  // KWEAVE_LOSS_JOINT_RISK_H_
