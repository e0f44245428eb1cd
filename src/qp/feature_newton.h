// Solves   (I + X' V X) d + X' V 1 c = -g and, with a bias, 1' V X d + 1' V 1 c = 0, for a diagonal V not
//          below zero: the Newton step in the space of the features, where only the samples with V > 0 count.
// Method   c is eliminated, which centres X by the weights V; then a Cholesky factor where the features are
//          few, else conjugate gradients with the diagonal as preconditioner, no more precise than a Newton
//          step needs.
// Takes    V and g; returns d and c.
// Holds    nothing between two solves but memory.
// Costs    for the factor d^2 values, the squared entries of the rows that count and d^3 / 3 multiplications.
#ifndef KWEAVE_QP_FEATURE_NEWTON_H_
#define KWEAVE_QP_FEATURE_NEWTON_H_

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/threads.h"
#include "compute/cpu/feature_matrix.h"
#include "qp/line_search.h"

namespace kweave {

class FeatureNewton {
 public:
  /// The features must outlive it.
  FeatureNewton(const FeatureMatrix& features, Index most_to_factor, ThreadPool* pool)
      : features_(features), most_to_factor_(most_to_factor), pool_(pool) {}

  /// Writes d and returns c, 0 without a bias.
  double Solve(std::span<const double> v, bool has_bias, std::span<const double> g, std::span<double> d);

 private:
  bool SolveByFactor(std::span<const double> g, std::span<double> d);
  void SolveByGradients(std::span<const double> g, std::span<double> d);
  void Multiply(std::span<const double> x, std::span<double> out) const;

  const FeatureMatrix& features_;
  const Index most_to_factor_;
  ThreadPool* const pool_;
  std::vector<Index> rows_;      // with v > 0
  std::vector<double> weights_;  // v of these
  double total_ = 0;             // 1' V 1, or 0 without a bias
  std::vector<double> mean_;     // X' V 1 / total
  std::vector<double> matrix_;   // I + X' V X, centred, and its factor
};

/// A t > 0 where the slope of a convex function, `start` < 0 at 0, is at most a small share of `start`, or
/// below zero at the end of a step that is long enough. 0 when `start` is not below zero.
template <class Slope>
double FindStep(const Slope& slope_at, double start) {
  constexpr double kLong = 64;  // times Newton's step: from there on the next one goes further
  if (!(start < 0)) return 0;
  double lower = 0, upper = 1, slope_lower = start, slope_upper = slope_at(1);
  while (slope_upper < kFlatSlope * start && upper < kLong) {
    lower = upper;
    slope_lower = slope_upper;
    upper *= 2;
    slope_upper = slope_at(upper);
  }
  if (slope_upper <= -kFlatSlope * start) return upper;
  const auto is_flat = [&](double slope) { return std::abs(slope) <= kFlatSlope * -start; };
  return FindFlat(slope_at, {lower, upper, slope_lower, slope_upper}, is_flat);
}

}  // namespace kweave

#endif  // KWEAVE_QP_FEATURE_NEWTON_H_
