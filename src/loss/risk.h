// The loss over all samples, as one term of the objective: a loss, its targets and its weights.
#ifndef KWEAVE_LOSS_RISK_H_
#define KWEAVE_LOSS_RISK_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "loss/loss.h"

namespace kweave {

/// (primal - dual) / max(|primal|, |dual|, least_size, tiny), not below 0; infinite where the bounds are not
/// finite.
double RelativeGap(double primal, double dual, double least_size);

/// What one beta says of a machine: no machine with its kernel does better than `dual`, and this one reaches
/// `primal`.
struct MachineBounds {
  double primal = 0;
  double dual = 0;
  double least_size = 0;  ///< of the Risk
  double gap() const { return primal - dual; }
  double relative_gap() const {
    return gap() / std::max({std::abs(primal), least_size, std::numeric_limits<double>::min()});
  }
};

/// sum_i C_i loss(f_i + b, y_i) + bias_slope b. Its dual variables beta lie in the intervals of the loss and,
/// when there is a bias, sum to bias_slope. What the spans and the pointer refer to must outlive it.
struct Risk {
  const Loss* loss = nullptr;
  std::span<const double> y;
  std::span<const double> C;  ///< positive
  bool has_bias = true;
  double bias_slope = 0;  ///< 1 for a one-class machine with the threshold -b, else 0
  /// What gaps are relative to where the objective is smaller: that of a one-class machine may be 0 at the
  /// optimum, and only its kernels say what is small beside it.
  double least_size = 0;

  Interval Feasible(std::size_t i) const { return loss->Feasible(y[i], C[i]); }
  DualPiece PieceAt(std::size_t i, double beta, double f) const { return loss->PieceAt(beta, f, y[i], C[i]); }

  /// What the size of outputs is measured by: half the spread of the targets, 1 for two classes; without a
  /// bias the largest. 0 for one class.
  double OutputUnit() const;

  /// 0 without a bias.
  double BestBias(std::span<const double> f) const;
  double Value(std::span<const double> f, double bias) const;
  /// L(beta), for feasible beta: inf over f and b of Value(f, b) + beta' (f + b).
  double Dual(std::span<const double> beta) const;

  /// Of a machine with the outputs f = K beta, which may be off by a common constant where beta sums to 0.
  MachineBounds BoundsAt(std::span<const double> beta, std::span<const double> f) const;

  /// A feasible beta with few nonzero entries.
  std::vector<double> FeasibleStart() const;
  /// Brings beta into its intervals and to its sum. Leaves a sum alone that is right up to rounding.
  void MakeFeasible(std::span<double> beta) const;
};

}  // namespace kweave

#endif  // KWEAVE_LOSS_RISK_H_
