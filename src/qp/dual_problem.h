#ifndef KWEAVE_QP_DUAL_PROBLEM_H_
#define KWEAVE_QP_DUAL_PROBLEM_H_

#include <memory>
#include <span>

#include "compute/dual_solver.h"
#include "compute/product_matrix.h"
#include "kweave/dataset.h"

namespace kweave {

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
  /// The constant that Diagonal and Rows leave out. Problems with a sum of zero can do without it, unless
  /// they need K to be positive semidefinite.
  virtual double Shift() { return 0; }
  /// A solver of a problem with a sum that works where the matrix lives; null: there is none, and solvers ask
  /// for rows. The problem and this must outlive it.
  virtual std::unique_ptr<DualSolver> MakeSolver(const DualProblem&, const SolverOptions&) { return nullptr; }
  /// The same matrix, where products with it cost far less than its rows; else null.
  virtual std::unique_ptr<ProductMatrix> Products() { return nullptr; }
};

}  // namespace kweave

#endif  // KWEAVE_QP_DUAL_PROBLEM_H_
