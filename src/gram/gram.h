// The two questions all methods ask of the kernels, and the seam where the speed is: rows of a learned
// kernel, and what all kernels say about some vectors. A back end implements Gram and LearnedMatrix
// (docs/dev/adding-a-back-end.md).
//
// Next on the main path: gram/group.h, one implementation per structure of kernels.
#ifndef KWEAVE_GRAM_GRAM_H_
#define KWEAVE_GRAM_GRAM_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "compute/cpu/feature_matrix.h"
#include "compute/dual_solver.h"
#include "compute/product_matrix.h"
#include "kweave/dataset.h"

namespace kweave {

/// The learned kernel matrix K(theta), with everything that theta implies worked out: a value that never
/// changes. Its Gram must outlive it. Calls are made from one thread and use all of them inside.
class LearnedMatrix {
 public:
  virtual ~LearnedMatrix() = default;

  std::span<const double> theta() const { return theta_; }
  /// The constant left out of rows and diagonal because it would cost digits (kernels close to 1 everywhere).
  /// It changes nothing where the factors of the rows sum to zero. Outputs include it.
  double shift() const { return shift_; }

  /// Rows of K(theta) - shift, `stride` values apart.
  virtual void Rows(std::span<const Index> rows, float* out, Index stride) const = 0;
  virtual void Rows(std::span<const Index> rows, double* out, Index stride) const = 0;
  /// k(x,x) - shift of the left samples.
  virtual void Diagonal(std::span<double> out) const = 0;
  /// Features X with K(theta) = X X', up to a constant wherever rows leave one out, if all kernels are
  /// linear; else null.
  virtual std::unique_ptr<FeatureMatrix> Features() const { return nullptr; }
  /// The same matrix, nothing left out, where products with it cost far less than its rows: all kernels have
  /// explicit feature maps. Else null.
  virtual std::unique_ptr<ProductMatrix> Products() const { return nullptr; }
  /// A solver of the dual problem on this matrix that works where it lives, in batches of steps; null:
  /// solvers ask for rows. The problem and this must outlive it.
  virtual std::unique_ptr<DualSolver> MakeSolver(const DualProblem&, const SolverOptions&) const {
    return nullptr;
  }

 protected:
  explicit LearnedMatrix(std::span<const double> theta, double shift = 0)
      : theta_(theta.begin(), theta.end()), shift_(shift) {}

  std::vector<double> theta_;
  double shift_;
};

/// Everything the kernels say about one vector a over the left samples: K_m a for all m, in a form whose size
/// depends on the structure of the kernels, not on their number. Theta may then move for almost nothing.
class Expansion {
 public:
  virtual ~Expansion() = default;
  /// q[m] = a' K_m a for every kernel, whatever its weight. Left and right samples must be the same.
  virtual void Quadratics(std::span<double> q) const = 0;
  /// products[m] = b' K_m a for every kernel and another vector b over the same samples; costs as much.
  virtual void Products(std::span<const double> b, std::span<double> products) const = 0;
  /// out[j] = sum_m theta_m (K_m a)_j over the right samples.
  virtual void Outputs(std::span<const double> theta, std::span<double> out) const = 0;
};

/// An expansion that a Gram returned. The Gram must outlive it.
class MovableExpansion : public Expansion {
 public:
  /// Becomes the expansion of another vector. Entries that stay the same cost nothing.
  virtual void MoveTo(std::span<const double> a) = 0;
};

/// What is asked about one vector.
struct VectorRequest {
  std::span<const double> a;           ///< over the left samples; only its nonzero entries cost anything
  std::span<const double> theta = {};  ///< where outputs are wanted; empty: they are not
  bool wants_quadratics = true;        ///< left and right samples must be the same then
  bool wants_outputs = true;           ///< false: theta says only where K(theta) is differentiated
  bool keeps_expansion = false;        ///< for questions at other theta later
  /// Outputs of all samples but these, ascending, may be wrong by this much beyond what tables are; 0: none
  /// of them.
  double rough_error = 0;
  std::span<const Index> precise_at = {};

  bool has_outputs() const { return wants_outputs && !theta.empty(); }
};

/// What the kernels say about one vector, as far as it was asked.
struct VectorAnswer {
  /// a' (dK/dtheta_m) a for every kernel: of a sum of kernels a' K_m a, wherever theta is.
  std::vector<double> quadratics;
  std::vector<double> outputs;  ///< K(theta) a; of a sum of kernels sum_m theta_m K_m a
  double rough_error = 0;       ///< how wrong outputs may be that were not asked to be precise
  std::unique_ptr<MovableExpansion> expansion;
};

/// What a Gram is, fixed when it is made.
struct GramShape {
  Index left_count = 0;
  Index right_count = 0;
  Index kernels = 0;
  /// K(theta) = sum_m theta_m K_m. If not, it is any differentiable function of its parameters: quadratics
  /// belong to the theta they are asked at, and those of expansions, which know none, are 0.
  bool is_sum = true;
  /// A bound on |computed - true| of every kernel value k_m(x,z) after normalisation, from tables that stand
  /// in for the kernels; 0 when every value is evaluated directly. Rounding is not part of it.
  double table_error = 0;
  /// The same from rounding, by kernel, where that is more than some units in the last place of outputs and
  /// quadratics: of values that follow from differences of larger numbers. Empty: of none.
  std::vector<double> rounding_errors = {};
  double value_error(std::size_t m) const {
    return table_error + (rounding_errors.empty() ? 0 : rounding_errors[m]);
  }
  /// The same of values of the learned kernel.
  double value_error(std::span<const double> theta) const {
    double error = 0;
    for (std::size_t m = 0; m < theta.size(); ++m) error += theta[m] > 0 ? theta[m] * value_error(m) : 0;
    return error;
  }
  /// Quadratics alone need no more than the pairs of nonzero entries, each once.
  bool has_cheap_quadratics = false;
};

template <class T>
class BaseStore;

/// The base quantities of a Gram that others may read (GramOptions::shared), by their precision; null: there
/// are none.
struct SharedBases {
  const BaseStore<float>* singles = nullptr;
  const BaseStore<double>* doubles = nullptr;
};

/// Kernels between left samples (rows) and right samples (columns); in training the two are the same. Calls
/// are made from one thread and use all of them inside.
class Gram {
 public:
  virtual ~Gram() = default;
  const GramShape& shape() const { return shape_; }
  Index left_count() const { return shape_.left_count; }
  Index right_count() const { return shape_.right_count; }
  Index kernels() const { return shape_.kernels; }

  /// K(theta). The last one is kept, so that asking again costs a comparison. Weights that are zero cost
  /// nothing in rows.
  std::shared_ptr<const LearnedMatrix> Learn(std::span<const double> theta) {
    if (last_ && std::ranges::equal(theta, last_->theta())) return last_;
    last_.reset();  // its memory serves the next one
    last_ = MakeLearned(theta);
    return last_;
  }

  /// Answers to all requests, from one pass over the kernels where that is possible. Nothing is kept but what
  /// was asked for, so very many kernels need no memory.
  virtual std::vector<VectorAnswer> AnswerAll(std::span<const VectorRequest> requests) = 0;
  VectorAnswer Answer(const VectorRequest& request) {
    return std::move(AnswerAll(std::span(&request, 1)).front());
  }
  /// The expansion of a vector.
  std::unique_ptr<MovableExpansion> Expand(std::span<const double> a) {
    return Answer({.a = a, .wants_quadratics = false, .keeps_expansion = true}).expansion;
  }

  /// The mean of k_m(x,x) over the left samples, for every kernel whatever its weight. As it stands here, one
  /// learned matrix for each kernel: for few of them.
  virtual std::vector<double> MeanDiagonals() {
    std::vector<double> theta(static_cast<std::size_t>(kernels()), 0.0), means(theta.size());
    std::vector<double> diagonal(static_cast<std::size_t>(left_count()));
    for (std::size_t m = 0; m < means.size(); ++m) {
      theta[m] = 1;
      const std::shared_ptr<const LearnedMatrix> kernel = Learn(theta);
      kernel->Diagonal(diagonal);
      const double sum = std::accumulate(diagonal.begin(), diagonal.end(), 0.0);
      means[m] = kernel->shift() + sum / static_cast<double>(diagonal.size());
      theta[m] = 0;
    }
    return means;
  }

  /// Computes every base quantity that kernels share and keeps it, so that Grams made with
  /// GramOptions::shared can take it from here, several at once.
  virtual void KeepBases() {}
  /// Those bases, and what else can be read.
  virtual SharedBases bases() const { return {}; }
  /// Gives back the memory of everything that can be computed again. Expansions stay as they are.
  virtual void ReleaseCopies() {}
  /// How many base quantities (distances, inner products, ...) were computed so far.
  virtual std::int64_t base_values() const { return 0; }

  /// How many rows were evaluated so far, for whatever purpose: the unit in which the work of a run is
  /// counted.
  std::int64_t rows_evaluated() const { return rows_evaluated_; }
  void CountRows(std::int64_t rows) { rows_evaluated_ += rows; }

 protected:
  explicit Gram(const GramShape& shape) : shape_(shape) {}
  virtual std::shared_ptr<const LearnedMatrix> MakeLearned(std::span<const double> theta) = 0;

  GramShape shape_;

 private:
  std::shared_ptr<const LearnedMatrix> last_;
  std::int64_t rows_evaluated_ = 0;
};

/// Makes `expansion` that of `a`, from nothing where it is null.
inline void ExpandInto(Gram& gram, std::span<const double> a, std::unique_ptr<MovableExpansion>& expansion) {
  if (expansion) {
    expansion->MoveTo(a);
  } else {
    expansion = gram.Expand(a);
  }
}

}  // namespace kweave

#endif  // KWEAVE_GRAM_GRAM_H_
