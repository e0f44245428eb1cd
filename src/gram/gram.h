// The two questions all methods ask of the kernels, and the seam where the speed is.
//
// Next on the main path: gram/group.h, one implementation per structure of kernels.
#ifndef KWEAVE_GRAM_GRAM_H_
#define KWEAVE_GRAM_GRAM_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compute/cpu/feature_matrix.h"
#include "kweave/dataset.h"

namespace kweave {

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

/// What a certificate asks about one vector.
struct Measurement {
  std::vector<double> quadratics;  ///< a' K_m a for every kernel
  std::vector<double> outputs;     ///< sum_m theta_m K_m a
  double rough_error = 0;          ///< how wrong outputs may be that were not asked to be precise
};

/// A vector that is measured at weights of its own.
struct MeasureRequest {
  std::span<const double> theta, a;
  /// Outputs of all samples but these, ascending, may be wrong by this much beyond what tables are; 0: none of them.
  double rough_error = 0;
  std::span<const Index> precise_at = {};
};

/// Kernels between left samples (rows) and right samples (columns); in training the two are the same.
/// Weights theta that are zero cost nothing in rows. Calls are made from one thread and use all of them
/// inside.
class Gram {
 public:
  virtual ~Gram() = default;
  virtual Index left_count() const = 0;
  virtual Index right_count() const = 0;
  virtual Index kernels() const = 0;

  /// Rows of the learned kernel matrix sum_m theta_m K_m - RowShift(theta), `stride` values apart.
  virtual void Rows(std::span<const double> theta, std::span<const Index> rows, float* out, Index stride) = 0;
  virtual void Rows(std::span<const double> theta, std::span<const Index> rows, double* out,
                    Index stride) = 0;

  /// The constant left out of rows and diagonal because it would cost digits (kernels close to 1 everywhere).
  /// It changes nothing where sum a = 0. Expansions and their results include it.
  virtual double RowShift(std::span<const double> theta) const = 0;

  /// k(x,x) - RowShift(theta) of the left samples.
  virtual void Diagonal(std::span<const double> theta, std::span<double> out) = 0;

  /// Only the nonzero entries of `a` (over left samples) cost anything.
  virtual std::unique_ptr<Expansion> Expand(std::span<const double> a) = 0;

  /// Makes an expansion that this Gram returned that of another `a`. Entries that stay the same cost nothing.
  virtual void Update(Expansion& expansion, std::span<const double> a) = 0;

  /// q[m] = a' K_m a from the pairs of nonzero entries alone, each once: where nothing else of the expansion is needed. False,
  /// with nothing done, where it would cost as much.
  virtual bool QuadraticsOnly(std::span<const double>, std::span<double>) { return false; }

  /// Quadratics and outputs of one vector or two, from one pass over the kernels where that is possible. Left and right
  /// samples must be the same. Nothing is kept, so very many kernels need no memory.
  virtual std::vector<Measurement> Measure(std::span<const double> theta,
                                           std::span<const std::span<const double>> vectors) {
    std::vector<Measurement> measured;
    for (const auto& a : vectors) {
      const std::unique_ptr<Expansion> expansion = Expand(a);
      measured.push_back({std::vector<double>(theta.size()), std::vector<double>(a.size())});
      expansion->Quadratics(measured.back().quadratics);
      expansion->Outputs(theta, measured.back().outputs);
    }
    return measured;
  }

  /// As Measure, for vectors with weights of their own.
  virtual std::vector<Measurement> MeasureEach(std::span<const MeasureRequest> requests) {
    std::vector<Measurement> measured;
    for (const MeasureRequest& request : requests) {
      measured.push_back(std::move(Measure(request.theta, std::span(&request.a, 1)).front()));
    }
    return measured;
  }

  /// Features X with K(theta) = X X', up to a constant wherever rows leave one out, if all kernels are linear; else null.
  virtual std::unique_ptr<FeatureMatrix> Features(std::span<const double>) { return nullptr; }

  /// A bound on |computed - true| of every kernel value k_m(x,z) after normalisation, from tables that stand
  /// in for the kernels; 0 when every value is evaluated directly. Rounding is not part of it.
  virtual double TableError() const = 0;

  /// Computes every base quantity that kernels share and keeps it, so that Grams made with GramOptions::shared can take it
  /// from here, several at once.
  virtual void KeepBases() {}
  /// Gives back the memory of everything that can be computed again. Expansions stay as they are.
  virtual void ReleaseCopies() {}
  /// How many base quantities (distances, inner products, ...) were computed so far.
  virtual std::int64_t base_values() const { return 0; }
  /// The expansions of several vectors from one pass over the kernels where that is possible.
  virtual std::vector<std::unique_ptr<Expansion>> ExpandAll(
      std::span<const std::span<const double>> vectors) {
    std::vector<std::unique_ptr<Expansion>> expansions;
    for (const auto& a : vectors) expansions.push_back(Expand(a));
    return expansions;
  }

  /// How many rows were evaluated so far, for whatever purpose: the unit in which the work of a run is counted.
  std::int64_t rows_evaluated() const { return rows_evaluated_; }

 protected:
  void CountRows(std::int64_t rows) { rows_evaluated_ += rows; }

 private:
  std::int64_t rows_evaluated_ = 0;
};

/// Makes `expansion` that of `a`, from nothing where it is null.
inline void ExpandInto(Gram& gram, std::span<const double> a, std::unique_ptr<Expansion>& expansion) {
  if (expansion) {
    gram.Update(*expansion, a);
  } else {
    expansion = gram.Expand(a);
  }
}

}  // namespace kweave

#endif  // KWEAVE_GRAM_GRAM_H_
