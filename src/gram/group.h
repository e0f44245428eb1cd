// Kernels that are evaluated together because they share structure.
//
// Next on the main path: gram/family_group.h (functions of one base quantity), gram/feature_group.h (the same
// of a single feature), gram/linear_group.h (through the features), gram/single_group.h (everything else),
// and under them compute/cpu/family_loops.h.
#ifndef KWEAVE_GRAM_GROUP_H_
#define KWEAVE_GRAM_GROUP_H_

#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/constants.h"
#include "base/threads.h"
#include "gram/gram.h"
#include "kweave/dataset.h"

namespace kweave {

/// Columns that one thread works on at a time: a block of moments stays in the nearest caches.
inline constexpr Index kColumnBlock = 512;

/// The nonzero entries of a vector over the left samples.
struct SupportVector {
  std::vector<Index> rows;
  std::vector<double> factors;
  double sum = 0;
};

SupportVector MakeSupport(std::span<const double> a);

/// The entries in which one of the vectors is not zero, ascending.
std::vector<Index> CommonSupport(std::span<const std::span<const double>> vectors);
std::vector<Index> CommonSupport(std::span<const VectorRequest> requests);

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

/// The same over the samples with a presence above 0 (View::presence).
inline SupportVector MeanOfPresent(std::span<const double> presence) {
  SupportVector mean{{}, {}, 1};
  for (std::size_t i = 0; i < presence.size(); ++i) {
    if (presence[i] > 0) mean.rows.push_back(static_cast<Index>(i));
  }
  mean.factors.assign(mean.rows.size(), 1.0 / static_cast<double>(mean.rows.size()));
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

/// The share of a group in a learned kernel: a value. T: float or double. The group must outlive it.
template <class T>
class GroupKernel {
 public:
  virtual ~GroupKernel() = default;
  /// What the rows of the group leave out.
  double shift() const { return shift_; }
  /// out[r * stride + j] += the group's share of row rows[r].
  virtual void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) const = 0;
  virtual void AddDiagonal(std::span<double> out, ThreadPool& pool) const = 0;
  /// The group's share, nothing left out, where products with it cost far less than its rows; else null. What
  /// it is made from must outlive it, and so must the pool.
  virtual std::unique_ptr<ProductMatrix> Products(ThreadPool&) const { return nullptr; }
  /// What it is made of, if it is linear.
  virtual std::optional<WeightedFeatures<T>> Linear() const { return {}; }

 protected:
  double shift_ = 0;
};

/// What quadratics alone cost: as much as an expansion, which is much or little, or only the pairs of nonzero
/// entries.
enum class QuadraticsCost { kExpansion, kLittle, kSupport };

/// What a group is, fixed when it is made.
struct GroupTraits {
  bool has_rows = true;  ///< it adds rows itself; if not, others add them, and it is not asked to learn
  double table_error = 0;
  QuadraticsCost quadratics_cost = QuadraticsCost::kExpansion;
  /// GramShape::rounding_errors, of kernels that have any.
  struct KernelError {
    std::size_t kernel = 0;
    double error = 0;
  };
  std::vector<KernelError> rounding_errors = {};
};

/// Where the answers of a group to a VectorRequest go.
struct GroupAnswer {
  std::span<double> quadratics;  ///< of all kernels; a group writes its own
  std::span<double> outputs;     ///< added to
  double rough_error = 0;
  std::unique_ptr<GroupExpansion> expansion;  ///< where it is to be kept
};

/// Of training samples, by kernel; a group writes those of its own, whatever their weight.
struct KernelStatistics {
  std::span<double> mean_diagonals;  ///< of k_m(x,x)
  std::span<double> mean_pairs;      ///< of k_m(x,z) over all pairs; empty: not asked for
  /// In feature space, of kernels whose E k(x,x) - E k(x,z) would lose its digits; others are left as they
  /// are. Empty: not asked for.
  std::span<double> variances;
};

/// T: float or double. Vectors theta and q are over all kernels of the problem; a group reads and writes its
/// own.
template <class T>
class Group {
 public:
  virtual ~Group() = default;
  const GroupTraits& traits() const { return traits_; }

  virtual std::unique_ptr<GroupKernel<T>> Learn(std::span<const double> theta) const = 0;
  /// Of the vector zero. The group must outlive it.
  virtual std::unique_ptr<GroupExpansion> StartExpansion() = 0;
  /// Answers to all requests, from one pass where that is possible.
  virtual void Answer(std::span<const VectorRequest> requests, std::span<GroupAnswer> answers,
                      ThreadPool& pool);
  /// Of the `count` left samples.
  virtual void FindStatistics(Index count, const KernelStatistics& statistics, ThreadPool& pool) = 0;
  /// Base values may be replaced by what the group makes of them first, so that it need not do so each time
  /// it reads them.
  virtual void MapBase() {}

 protected:
  GroupTraits traits_;
};

/// The expansion of `a`. The group must outlive it.
template <class T>
std::unique_ptr<GroupExpansion> Expand(Group<T>& group, const SupportVector& a, ThreadPool& pool) {
  std::unique_ptr<GroupExpansion> expansion = group.StartExpansion();
  expansion->Add(a, pool);
  return expansion;
}

/// What an expansion of its vector says to a request; the expansion is kept if it asks for that.
inline void AnswerFrom(std::unique_ptr<GroupExpansion> expansion, const VectorRequest& request,
                       GroupAnswer& answer) {
  if (request.wants_quadratics) expansion->Quadratics(request.a, answer.quadratics);
  if (request.has_outputs()) expansion->AddOutputs(request.theta, answer.outputs);
  if (request.keeps_expansion) answer.expansion = std::move(expansion);
}

template <class T>
void Group<T>::Answer(std::span<const VectorRequest> requests, std::span<GroupAnswer> answers,
                      ThreadPool& pool) {
  for (std::size_t v = 0; v < requests.size(); ++v) {
    AnswerFrom(Expand(*this, MakeSupport(requests[v].a), pool), requests[v], answers[v]);
  }
}

}  // namespace kweave

#endif  // KWEAVE_GRAM_GROUP_H_
