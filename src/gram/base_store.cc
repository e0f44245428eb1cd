#include "gram/base_store.h"

#include <algorithm>
#include <utility>

#include "gram/linear_group.h"
#include "gram/selected_block.h"
#include "kernel/linear.h"

namespace kweave {
namespace {

constexpr std::int32_t kProductsOfFeatures = -1;  // stands for a subset in the key of a base

bool IsFile(const BaseKey& key) { return std::get<3>(key) >= 0; }

}  // namespace

BaseRequest RequestOf(const KernelTerm& term, const KernelSet& kernels, const Sides& sides) {
  BaseRequest request;
  request.quantity = term.kind->base;
  request.parameter = term.kind->BaseParameter(term.parameters);
  request.parameters = term.parameters;
  request.subset = &kernels.subsets[term.subset];
  request.left = &sides.left[term.view];
  request.right = sides.is_training ? request.left : &sides.right[term.view];
  request.is_training = sides.is_training;
  request.file = term.file >= 0 ? &kernels.files[term.file] : nullptr;
  request.left_count = sides.left_count();
  request.right_count = sides.right_count();
  request.left_columns = sides.left_columns;
  return request;
}

template <class T>
BaseStore<T>::BaseStore(const KernelSet& kernels, const Sides& sides, bool needs_right_diagonal,
                        const BaseStore* shared, std::vector<Index> shared_samples)
    : kernels_(kernels),
      sides_(sides),
      needs_right_diagonal_(needs_right_diagonal),
      shared_(shared),
      shared_samples_(std::move(shared_samples)),
      left_count_(sides.left_count()),
      right_count_(sides.right_count()) {}

template <class T>
BaseRows<T>& BaseStore<T>::Of(const KernelTerm& term) {
  const BaseKey key = KeyOf(term);
  if (const auto found = bases_.find(key); found != bases_.end()) return *found->second;
  std::unique_ptr<BaseBlock<T>> block = SharedBlock(key);
  return Add(key, block ? std::move(block) : MakeBlock(term));
}

template <class T>
BaseRows<T>& BaseStore<T>::OfProducts(std::int32_t view, std::shared_ptr<const LinearFeatures<T>> features) {
  const BaseKey key{kLinear.base, view, kProductsOfFeatures, -1, {}};
  // Some of the samples are centred at another mean, so they need products of their own.
  std::unique_ptr<BaseBlock<T>> block = shared_samples_.empty() ? SharedBlock(key) : nullptr;
  return Add(key, block ? std::move(block) : MakeLinearProducts<T>(std::move(features)));
}

template <class T>
BaseRows<T>& BaseStore<T>::Add(const BaseKey& key, std::unique_ptr<BaseBlock<T>> block) {
  auto& base = bases_[key];
  base = std::make_unique<BaseRows<T>>(std::move(block), left_count_, right_count_);
  return *base;
}

template <class T>
std::unique_ptr<BaseBlock<T>> BaseStore<T>::SharedBlock(const BaseKey& key) const {
  if (shared_ == nullptr) return nullptr;
  const auto found = shared_->bases_.find(key);
  if (found == shared_->bases_.end()) return nullptr;
  // A file knows all samples only.
  if (!IsFile(key) && !found->second->is_complete()) return nullptr;
  return MakeSelectedBlock<T>(*found->second, shared_samples_);
}

template <class T>
std::unique_ptr<BaseBlock<T>> BaseStore<T>::MakeBlock(const KernelTerm& term) const {
  BaseRequest request = RequestOf(term, kernels_, sides_);
  request.needs_right_diagonal = needs_right_diagonal_;
  return MakeBaseBlock<T>(request);
}

template <class T>
void BaseStore<T>::ShareCache(std::size_t cache_bytes) {
  const auto is_kept = [](const auto& entry) { return !entry.second->block().traits().is_cheap; };
  const std::size_t kept = std::ranges::count_if(bases_, is_kept);
  const std::size_t row_bytes = std::max<std::size_t>(right_count_, 1) * sizeof(T);
  const std::size_t rows = kept == 0 ? 0 : std::min<std::size_t>(cache_bytes / kept / row_bytes, left_count_);
  std::size_t left_over = cache_bytes - kept * rows * row_bytes;
  for (auto& entry : bases_) {
    BaseRows<T>& base = *entry.second;
    if (is_kept(entry)) {
      base.SetCapacity(static_cast<Index>(rows));
    } else if (base.block().traits().resident_bytes <= left_over) {
      left_over -= base.block().traits().resident_bytes;
      base.block().StayResident();
    }
  }
}

template <class T>
void BaseStore<T>::KeepAll(ThreadPool& pool) {
  for (auto& [key, base] : bases_) {
    if (!IsFile(key)) {
      base->KeepAll(pool);
    } else if (left_count_ > 0) {
      base->block().LeftDiagonal(0);  // read when first asked for, by one thread
    }
  }
}

template <class T>
void BaseStore<T>::Release() {
  for (auto& [key, base] : bases_) base->Release();
}

template <class T>
std::int64_t BaseStore<T>::values_computed() const {
  std::int64_t values = 0;
  for (const auto& [key, base] : bases_) values += base->values_computed();
  return values;
}

template class BaseStore<float>;
template class BaseStore<double>;

}  // namespace kweave
