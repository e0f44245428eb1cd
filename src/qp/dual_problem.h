#ifndef KWEAVE_QP_DUAL_PROBLEM_H_
#define KWEAVE_QP_DUAL_PROBLEM_H_

#include <span>

#include "kweave/dataset.h"

namespace kweave {

/// The dual problem in signed form, beta_i = y_i alpha_i for classification:
///
///   minimise   1/2 beta' K beta + linear' beta + sum_i (kink_i |beta_i| + 1/2 curvature_i beta_i^2)
///   subject to lower_i <= beta_i <= upper_i,  sum beta = the sum of the starting point.
///
/// Classification: linear = -y, bounds [0, C_i] for y = +1 and [-C_i, 0] for y = -1. Regression: linear = -y,
/// kink = epsilon, bounds [-C_i, C_i]. Squared hinge: as classification, curvature = 1 / C_i, no upper bound.
///
/// The gradient of a state is that of the smooth part without the kinks, K beta + linear + curvature beta.
struct DualProblem {
  std::span<const double> linear;
  std::span<const double> lower;  ///< may be infinite, and so may upper
  std::span<const double> upper;
  std::span<const double> kink = {};       ///< not negative; empty: none
  std::span<const double> curvature = {};  ///< not negative; empty: none
  bool has_sum = true;                     ///< false: the sum of beta is free
  Index size() const { return static_cast<Index>(linear.size()); }
};

/// Rows of the positive semidefinite matrix K, up to a constant added to all of its entries. T: float or
/// double.
template <class T>
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual Index size() const = 0;
  virtual void Diagonal(std::span<double> out) = 0;
  /// Row rows[r] goes to out + r * stride. Many rows in one call are much cheaper than many calls.
  virtual void Rows(std::span<const Index> rows, T* out, Index stride) = 0;
  /// out = K beta for all samples; only nonzero entries of beta cost anything.
  virtual void Multiply(std::span<const double> beta, std::span<double> out) = 0;
  /// The constant that Diagonal and Rows leave out. Problems with a sum of zero can do without it, unless they need K
  /// to be positive semidefinite.
  virtual double Shift() { return 0; }
};

}  // namespace kweave

#endif  // KWEAVE_QP_DUAL_PROBLEM_H_
