#ifndef KWEAVE_GRAM_BASE_BLOCK_H_
#define KWEAVE_GRAM_BASE_BLOCK_H_

#include <memory>
#include <span>

#include "base/memory.h"
#include "kernel/kernel_set.h"
#include "kweave/dataset.h"

namespace kweave {

/// Up to so many features a row of products is computed again when asked for: to keep it costs the first touch of its
/// memory and the way there and back, and it is read a few times in a run; measured with a9a and MNIST.
inline constexpr Index kCheapFeatures = 128;

/// Base quantities between left and right samples, a block at a time. T: float or double.
template <class T>
class BaseBlock {
 public:
  virtual ~BaseBlock() = default;

  /// What Compute needs of the left samples `rows`, gathered once for all columns.
  virtual void GatherLeft(std::span<const Index> rows, AlignedVector<T>& left) const = 0;

  /// out[r * stride + (j - begin)] = quantity(left rows[r], right j) for begin <= j < end, where `left` was gathered for
  /// `rows` and `begin` is a multiple of kColumnBlock. May be called from several threads at once.
  virtual void Compute(std::span<const Index> rows, const AlignedVector<T>& left, Index begin, Index end,
                       T* out, Index stride) const = 0;

  /// Says that `rows` will not be asked for again soon (files give their memory back).
  virtual void Release(std::span<const Index>) const {}

  /// What stays in memory if released rows are kept after all (mapped files), and the wish that they be.
  virtual std::size_t ResidentBytes() const { return 0; }
  virtual void StayResident() {}

  /// Gives back memory that GatherLeft fills again from the samples when it is next asked for rows.
  virtual void DropCopies() {}

  /// quantity(x,x) of left sample i. One thread at a time.
  virtual double LeftDiagonal(Index i) const = 0;
  /// quantity(x,x) of right sample j.
  virtual double RightDiagonal(Index j) const = 0;

  /// No pair has a quantity above this (infinity when not known).
  virtual double UpperBound() const = 0;

  /// Computing a value again costs less than keeping it.
  virtual bool IsCheap() const = 0;

  /// All columns of a row, if they lie in memory as they are; else null.
  virtual const T* Stored(Index) const { return nullptr; }
  /// Whether values come from another base, which counts what it computes.
  virtual bool IsView() const { return false; }
  /// Whether those are a variable of the quantity, not the quantity itself (BaseRows::MapTo).
  virtual bool IsMapped() const { return false; }
};

/// What a base is computed from.
struct BaseRequest {
  const BaseQuantity* quantity = nullptr;
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

template <class T>
std::unique_ptr<BaseBlock<T>> MakeBaseBlock(const BaseRequest& request);

/// What BaseBlock::IsCheap of such a base says in training, before there is one.
bool IsCheapInTraining(const BaseQuantity& quantity, const Features& features, const FeatureSubset& subset);

}  // namespace kweave

#endif  // KWEAVE_GRAM_BASE_BLOCK_H_
