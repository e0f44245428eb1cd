// The base quantities that the kernels of one Gram share, each once, whichever groups read it.
#ifndef KWEAVE_GRAM_BASE_STORE_H_
#define KWEAVE_GRAM_BASE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "base/threads.h"
#include "gram/base_rows.h"
#include "gram/linear_features.h"
#include "kernel/kernel_set.h"
#include "kweave/dataset.h"

namespace kweave {

/// The two sides of a Gram matrix.
struct Sides {
  std::span<const View> left;
  std::span<const View> right;
  bool is_training = true;  ///< left and right are the same samples
  std::span<const Index> left_columns;

  Index left_count() const { return RowCount(left[0].features); }
  Index right_count() const { return RowCount(right[0].features); }
};

/// What tells one base from another: quantity, view, subset and file, these by their numbers, and the
/// parameters that the quantity depends on.
using BaseKey = std::tuple<const BaseQuantity*, std::int32_t, std::int32_t, std::int32_t, KernelParameters>;
inline BaseKey KeyOf(const KernelTerm& term) {
  const KernelKind& kind = *term.kind;
  return {kind.base, term.view, term.subset, term.file,
          kind.IsOnSequences() ? term.parameters : KernelParameters{kind.BaseParameter(term.parameters)}};
}

/// What the base of a term is computed from. Kernels and views must outlive it.
BaseRequest RequestOf(const KernelTerm& term, const KernelSet& kernels, const Sides& sides);

/// Makes a base when it is first asked for, out of the samples or of a store on more samples that keeps it.
/// T: float or double.
template <class T>
class BaseStore {
 public:
  /// The samples here are `shared_samples` of `shared`; empty: all. Null: every base is computed here.
  /// Kernels, the views of `sides` and `shared` must outlive the store. With `needs_right_diagonal` files
  /// hold k(x,x) of new samples.
  BaseStore(const KernelSet& kernels, const Sides& sides, bool needs_right_diagonal, const BaseStore* shared,
            std::vector<Index> shared_samples);

  /// The base of a term, valid as long as the store.
  BaseRows<T>& Of(const KernelTerm& term);
  /// The products of all features of a view, which linear kernels may take their rows from.
  BaseRows<T>& OfProducts(std::int32_t view, std::shared_ptr<const LinearFeatures<T>> features);

  /// Computed bases share the cache equally; what they cannot use lets files stay in memory between passes.
  void ShareCache(std::size_t cache_bytes);
  /// Computes and keeps every base, whatever the cache was. Files are in memory as far as the system has
  /// room.
  void KeepAll(ThreadPool& pool);
  /// Gives back the memory of rows that are not all kept.
  void Release();
  /// How many values were computed so far.
  std::int64_t values_computed() const;

 private:
  BaseRows<T>& Add(const BaseKey& key, std::unique_ptr<BaseBlock<T>> block);
  std::unique_ptr<BaseBlock<T>> SharedBlock(const BaseKey& key) const;
  std::unique_ptr<BaseBlock<T>> MakeBlock(const KernelTerm& term) const;

  const KernelSet& kernels_;
  Sides sides_;
  bool needs_right_diagonal_;
  const BaseStore* shared_;  ///< null: bases are computed here
  std::vector<Index> shared_samples_;
  Index left_count_;
  Index right_count_;
  std::map<BaseKey, std::unique_ptr<BaseRows<T>>> bases_;
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_BASE_STORE_H_
