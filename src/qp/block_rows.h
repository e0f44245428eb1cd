// Full kernel rows for sets of variables: those of earlier sets that are still there, and all new ones
// together.
#ifndef KWEAVE_QP_BLOCK_ROWS_H_
#define KWEAVE_QP_BLOCK_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/threads.h"
#include "qp/dual_problem.h"
#include "qp/row_cache.h"
#include "qp/solver.h"

namespace kweave {

/// Fewer variables than this make no block.
inline constexpr Index kLeastInSet = 16;
/// Columns of rows that are added up at a time: 8 KB of sums stay in the nearest cache. For joint machines
/// 256 or 4,096 take as long. A piece of work is a few of them.
inline constexpr Index kColumnsAdded = 1024, kColumnsPerPiece = 4 * kColumnsAdded;

template <class T>
class BlockRows {
 public:
  /// Keeps what fits into the cache of the options, never less than `least` rows.
  BlockRows(RowSource<T>& source, const SolverOptions& options, Index least);

  /// How many rows are kept at most.
  Index capacity() const { return cache_.capacity(); }
  bool Contains(Index sample) const { return cache_.Contains(sample); }
  /// The rows of `samples`, not more than capacity(), none twice; valid until the next call. Rows that are
  /// not there are computed, and those used least recently give way.
  std::span<const T* const> Fetch(std::span<const Index> samples);
  /// The source changed: forgets all rows.
  void Clear() { cache_.Clear(); }

  std::int64_t rows_computed() const { return rows_computed_; }
  /// False once a computed row held a value that is infinite or not a number.
  bool is_finite() const { return is_finite_; }

 private:
  void Compute(std::span<const Index> samples);
  void CheckFinite(std::span<const Index> samples);

  RowSource<T>& source_;
  ThreadPool* pool_;
  Index batch_;  // rows computed at a time where they cannot go to their places directly
  RowCache<T> cache_;
  AlignedVector<T> scratch_;  // such a batch
  std::vector<Index> absent_;
  std::vector<T*> places_;
  std::vector<const T*> rows_;
  std::int64_t rows_computed_ = 0;
  bool is_finite_ = true;
};

/// body(begin, end) on pieces of [0, count), each from a multiple of `grain` to the next, on all threads of
/// the pool; null: on this one.
template <class Body>
void ForPieces(ThreadPool* pool, Index count, Index grain, const Body& body) {
  if (pool == nullptr) {
    for (Index begin = 0; begin < count; begin += grain) body(begin, std::min(begin + grain, count));
  } else {
    pool->ParallelFor(count, grain, [&](Index begin, Index end, int) { body(begin, end); });
  }
}

extern template class BlockRows<float>;
extern template class BlockRows<double>;

}  // namespace kweave

#endif  // KWEAVE_QP_BLOCK_ROWS_H_
