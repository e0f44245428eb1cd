// The loss over all samples, as one term of the objective: a loss, its targets and its weights.
#ifndef KWEAVE_LOSS_RISK_H_
#define KWEAVE_LOSS_RISK_H_

#include <span>
#include <vector>

#include "loss/loss.h"

namespace kweave {

/// sum_i C_i loss(f_i + b, y_i) + bias_slope b. Its dual variables beta lie in the intervals of the loss and, when
/// there is a bias, sum to bias_slope. What the spans and the pointer refer to must outlive it.
struct Risk {
  const Loss* loss = nullptr;
  std::span<const double> y;
  std::span<const double> C;  ///< positive
  bool has_bias = true;
  double bias_slope = 0;  ///< 1 for a one-class machine with the threshold -b, else 0

  Interval Feasible(std::size_t i) const { return loss->Feasible(y[i], C[i]); }
  DualPiece PieceAt(std::size_t i, double beta, double f) const { return loss->PieceAt(beta, f, y[i], C[i]); }

  /// 0 without a bias.
  double BestBias(std::span<const double> f) const;
  double Value(std::span<const double> f, double bias) const;
  /// L(beta), for feasible beta: inf over f and b of Value(f, b) + beta' (f + b).
  double Dual(std::span<const double> beta) const;

  /// A feasible beta with few nonzero entries.
  std::vector<double> FeasibleStart() const;
  /// Brings beta into its intervals and to its sum. Leaves a sum alone that is right up to rounding.
  void MakeFeasible(std::span<double> beta) const;
};

}  // namespace kweave

#endif  // KWEAVE_LOSS_RISK_H_
