// Kernels that are evaluated together because they share structure.
//
// Next on the main path: gram/family_group.h (functions of one base quantity), gram/feature_group.h (the same of a
// single feature), gram/linear_group.h (through the features), gram/single_group.h (everything else), and under them
// compute/cpu/family_loops.h.
#ifndef KWEAVE_GRAM_GROUP_H_
#define KWEAVE_GRAM_GROUP_H_

#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "base/threads.h"
#include "gram/gram.h"
#include "kweave/dataset.h"

namespace kweave {

/// Columns that one thread works on at a time: a block of moments stays in the nearest caches.
inline constexpr Index kColumnBlock = 512;
/// Left samples per matrix product.
inline constexpr Index kRowBatch = 64;

/// The nonzero entries of a vector over the left samples.
struct SupportVector {
  std::vector<Index> rows;
  std::vector<double> factors;
  double sum = 0;
};

SupportVector MakeSupport(std::span<const double> a);

/// The entries in which one of the vectors is not zero, ascending.
std::vector<Index> CommonSupport(std::span<const std::span<const double>> vectors);

/// The part of an Expansion that belongs to one group, of a vector that grows by Add.
class GroupExpansion {
 public:
  virtual ~GroupExpansion() = default;
  /// Adds these entries to the vector.
  virtual void Add(const SupportVector& entries, ThreadPool& pool) = 0;
  /// Writes q[m] for the group's kernels. `a` is over the right samples.
  virtual void Quadratics(std::span<const double> a, std::span<double> q) const = 0;
  /// Writes b' K_m a for the group's kernels. `b` is over the right samples, which are also the left ones.
  virtual void Products(std::span<const double> b, std::span<double> products) const = 0;
  /// out[j] += sum over the group's kernels of theta_m (K_m a)_j.
  virtual void AddOutputs(std::span<const double> theta, std::span<double> out) const = 0;
};

/// The vector whose product with values of all samples is their mean.
inline SupportVector MeanOf(Index count) {
  SupportVector mean{std::vector<Index>(count), std::vector<double>(count, 1.0 / static_cast<double>(count)),
                     1};
  std::iota(mean.rows.begin(), mean.rows.end(), Index{0});
  return mean;
}

template <class T>
class LinearFeatures;

/// Features x_f with weights u_f: the matrix of all sum_f u_f x_f z_f.
template <class T>
struct WeightedFeatures {
  const LinearFeatures<T>* features = nullptr;
  std::vector<double> weights;
};

/// What quadratics alone cost: as much as an expansion, which is much or little, or only the pairs of nonzero entries.
enum class QuadraticsCost { kExpansion, kLittle, kSupport };

/// T: float or double. Vectors theta and q are over all kernels of the problem; a group reads and writes its
/// own.
template <class T>
class Group {
 public:
  virtual ~Group() = default;
  /// Whether the group adds rows itself. If not, others add them, and neither its weights nor its rows are asked for.
  virtual bool has_rows() const { return true; }
  /// Takes the weights that AddRows and AddDiagonal use until the next call.
  virtual void SetWeights(std::span<const double> theta) = 0;
  /// out[r * stride + j] += the group's share of row rows[r].
  virtual void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) = 0;
  /// What the rows of the group leave out at these weights.
  virtual double RowShift(std::span<const double> theta) const = 0;
  virtual void AddDiagonal(std::span<double> out) const = 0;
  /// Of the vector zero. The group must outlive it.
  virtual std::unique_ptr<GroupExpansion> StartExpansion() = 0;
  /// means[m] = mean of k_m(x,x) over the left samples, for the group's kernels, whatever their weight.
  virtual void MeanDiagonals(Index left_count, std::span<double> means) const = 0;
  /// means[m] = mean of k_m(x,z) over all pairs of `count` training samples, for the group's kernels, whatever their
  /// weight.
  virtual void MeansOfAllPairs(Index count, std::span<double> means, ThreadPool& pool) = 0;
  /// Writes the variance in feature space of kernels whose E k(x,x) - E k(x,z) would lose its digits; others are left.
  virtual void Variances(std::span<double>) const {}
  virtual double TableError() const { return 0; }
  /// Base values may be replaced by what the group makes of them first, so that it need not do so each time it reads them.
  virtual void MapBase() {}
  /// The expansions of several vectors. The group must outlive them.
  virtual std::vector<std::unique_ptr<GroupExpansion>> ExpandAll(
      std::span<const std::span<const double>> vectors, ThreadPool& pool);
  /// Writes quadratics and adds to outputs of each vector. `theta` are the weights last set.
  virtual void Measure(std::span<const double> theta, std::span<const std::span<const double>> vectors,
                       std::span<Measurement> measured, ThreadPool& pool);
  /// The same for vectors with weights of their own. The weights last set are others then.
  virtual void MeasureEach(std::span<const MeasureRequest> requests, std::span<Measurement> measured,
                           ThreadPool& pool) {
    for (std::size_t v = 0; v < requests.size(); ++v) {
      SetWeights(requests[v].theta);
      Measure(requests[v].theta, std::span(&requests[v].a, 1), measured.subspan(v, 1), pool);
    }
  }
  /// Writes q[m] = a' K_m a for the group's kernels, keeping nothing.
  virtual void SupportQuadratics(std::span<const double> a, std::span<double> q, ThreadPool& pool);
  virtual QuadraticsCost quadratics_cost() const { return QuadraticsCost::kExpansion; }
  /// What the group's share of the learned kernel is made of, if it is linear. The group must outlive it.
  virtual std::optional<WeightedFeatures<T>> Linear(std::span<const double>) const { return {}; }
};

/// The expansion of `a`. The group must outlive it.
template <class T>
std::unique_ptr<GroupExpansion> Expand(Group<T>& group, const SupportVector& a, ThreadPool& pool) {
  std::unique_ptr<GroupExpansion> expansion = group.StartExpansion();
  expansion->Add(a, pool);
  return expansion;
}

template <class T>
std::vector<std::unique_ptr<GroupExpansion>> Group<T>::ExpandAll(
    std::span<const std::span<const double>> vectors, ThreadPool& pool) {
  std::vector<std::unique_ptr<GroupExpansion>> expansions;
  for (const auto& a : vectors) expansions.push_back(Expand(*this, MakeSupport(a), pool));
  return expansions;
}

template <class T>
void Group<T>::SupportQuadratics(std::span<const double> a, std::span<double> q, ThreadPool& pool) {
  Expand(*this, MakeSupport(a), pool)->Quadratics(a, q);
}

template <class T>
void Group<T>::Measure(std::span<const double> theta, std::span<const std::span<const double>> vectors,
                       std::span<Measurement> measured, ThreadPool& pool) {
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    const std::unique_ptr<GroupExpansion> expansion = Expand(*this, MakeSupport(vectors[v]), pool);
    expansion->Quadratics(vectors[v], measured[v].quadratics);
    expansion->AddOutputs(theta, measured[v].outputs);
  }
}

}  // namespace kweave

#endif  // KWEAVE_GRAM_GROUP_H_
