// Kernel rows on demand: from the cache, or computed in batches of rows that will probably be wanted soon.
//
// Two tiers. Full rows, in the order of the samples, are what the source computes and what survives when
// variables are set aside and taken back. While some are aside, the store also keeps rows of the active
// columns only: a small matrix that stays close to the processor.
#ifndef KWEAVE_QP_ROW_STORE_H_
#define KWEAVE_QP_ROW_STORE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/memory.h"
#include "qp/dual_problem.h"
#include "qp/row_cache.h"
#include "qp/solver.h"

namespace kweave {

/// Rows cost far more than steps: variables whose rows are at hand go alone while the worst pair of them
/// violates this share of the worst of all, and a row is worth computing for a variable that violates as
/// much.
inline constexpr double kWorthOfRow = 0.5;
/// Batches of rows that a cache holds at least, so that one of them replaces a small part of it.
inline constexpr Index kLeastBatchesInCache = 8;

template <class T>
class RowStore {
 public:
  /// Appends up to `count` samples whose rows are worth computing now (Contains() false, none twice, not
  /// `row`).
  using ChooseCompanions = std::function<void(Index row, Index count, std::vector<Index>& companions)>;

  RowStore(RowSource<T>& source, const SolverOptions& options, ChooseCompanions choose);

  /// Row of the active variable at `position`, one value per active variable. The results of the last two
  /// calls stay valid.
  const T* ActiveRow(Index position);
  /// Calls use(sample, full row) for each of `samples`, in no particular order. The cache stays as it is.
  void ForEachRow(std::span<const Index> samples, const std::function<void(Index, const T*)>& use);
  /// From now on the active variables are these samples, ascending; all of them when empty.
  void SetActive(std::vector<std::int32_t> samples);
  bool Contains(Index sample) const { return full_.Contains(sample); }
  /// The source changed: forgets all rows.
  void Clear();

  std::int64_t rows_computed() const { return rows_computed_; }
  /// False once a computed row held a value that is infinite or not a number.
  bool is_finite() const { return is_finite_; }

 private:
  const T* FullRow(Index sample);
  void Fetch(Index sample);
  Index BatchSize();
  void Compute(std::span<const Index> samples, T* out);

  RowSource<T>& source_;
  ChooseCompanions choose_;
  Index size_;
  std::size_t cache_bytes_;
  Index most_per_batch_;
  RowCache<T> full_;
  std::optional<RowCache<T>> active_;  // rows gathered to the active columns; none while all are active
  std::vector<std::int32_t> active_samples_;
  AlignedVector<T> scratch_;              // a batch that cannot be written into the cache directly
  std::vector<Index> batch_;              // the wanted row and its companions
  std::vector<std::uint8_t> is_untried_;  // per sample: in the cache as a companion, never asked for
  double companions_computed_ = 0;        // recent ones, older ones fade out
  double companions_used_ = 0;
  std::int64_t rows_computed_ = 0;
  bool is_finite_ = true;
};

extern template class RowStore<float>;
extern template class RowStore<double>;

}  // namespace kweave

#endif  // KWEAVE_QP_ROW_STORE_H_
