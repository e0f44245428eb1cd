#ifndef KWEAVE_GRAM_BASE_BLOCK_H_
#define KWEAVE_GRAM_BASE_BLOCK_H_

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/memory.h"
#include "kernel/kernel_set.h"
#include "kweave/dataset.h"

namespace kweave {

/// Up to this many features a row of products is recomputed rather than kept: a kept row costs memory traffic
/// and is read only a few times in a run. Measured with a9a and MNIST.
inline constexpr Index kCheapFeatures = 128;

/// How base quantities are computed.
enum class BlockKind { kFile, kFeatureSums, kSparseProducts, kDenseProducts, kSequences };

/// What a base will be, known before it is made.
struct BasePlan {
  BlockKind kind = BlockKind::kFile;
  bool is_cheap = false;  ///< computing a value again costs less than keeping it
  std::size_t bytes = 0;  ///< of the samples as it copies them, at most
};

/// How wrong quantities of at least `least` may be by rounding.
struct BaseRounding {
  double error = 0;
  double least = 0;
};

/// What a base is, fixed when it is made.
struct BaseTraits {
  /// No pair has a quantity above this (infinity when not known).
  double upper_bound = std::numeric_limits<double>::infinity();
  /// Of quantities that are found as differences of larger ones, in double precision: the largest errors
  /// first, each followed by those that smaller quantities may have. Empty: no more than some units in the
  /// last place.
  std::vector<BaseRounding> rounding;
  /// The largest k(x,x) of a matrix given as such, to which sums of its values are rounded, in double
  /// precision.
  double largest_stored = 0;
  bool is_cheap = false;  ///< as in BasePlan
  /// What stays in memory if released rows are kept after all (mapped files).
  std::size_t resident_bytes = 0;
  bool is_view = false;  ///< values come from another base, which counts what it computes
  /// And those are a variable of the quantity, not the quantity itself (BaseRows::MapTo).
  bool is_mapped = false;
};

/// Base quantities between left and right samples, a block at a time. T: float or double.
template <class T>
class BaseBlock {
 public:
  virtual ~BaseBlock() = default;
  const BaseTraits& traits() const { return traits_; }

  /// What Compute needs of the left samples `rows`, gathered once for all columns.
  virtual void GatherLeft(std::span<const Index> rows, AlignedVector<T>& left) const = 0;

  /// out[r * stride + (j - begin)] = quantity(left rows[r], right j) for begin <= j < end, where `left` was
  /// gathered for `rows` and `begin` is a multiple of kColumnBlock. May be called from several threads at
  /// once.
  virtual void Compute(std::span<const Index> rows, const AlignedVector<T>& left, Index begin, Index end,
                       T* out, Index stride) const = 0;

  /// Says that `rows` will not be asked for again soon (files give their memory back).
  virtual void Release(std::span<const Index>) const {}

  /// The wish that released rows stay in memory (BaseTraits::resident_bytes).
  virtual void StayResident() {}

  /// Gives back memory that GatherLeft fills again from the samples when it is next asked for rows.
  virtual void DropCopies() {}

  /// quantity(x,x) of left sample i. One thread at a time.
  virtual double LeftDiagonal(Index i) const = 0;
  /// quantity(x,x) of right sample j.
  virtual double RightDiagonal(Index j) const = 0;

  /// All columns of a row, if they lie in memory as they are; else null.
  virtual const T* Stored(Index) const { return nullptr; }

 protected:
  BaseTraits traits_;
};

/// What a base is computed from.
struct BaseRequest {
  const BaseQuantity* quantity = nullptr;
  double parameter = 0;           ///< of the quantity (KernelKind::base_parameter)
  KernelParameters parameters{};  ///< all of them: kernels on sequences
  const FeatureSubset* subset = nullptr;
  const View* left = nullptr;
  const View* right = nullptr;  ///< the same object as `left` in training
  bool is_training = true;

  // Matrices given as such (Source::kFile) only.
  const MatrixSource* file = nullptr;
  Index left_count = 0;
  Index right_count = 0;
  std::span<const Index> left_columns;  ///< new samples: the column of left sample i; empty: i
  bool needs_right_diagonal = false;    ///< new samples: a last column holds k(x,x)
};

/// With values of so many bytes.
BasePlan PlanBase(const BaseRequest& request, std::size_t value_bytes);

template <class T>
std::unique_ptr<BaseBlock<T>> MakeBaseBlock(const BaseRequest& request);

}  // namespace kweave

#endif  // KWEAVE_GRAM_BASE_BLOCK_H_
