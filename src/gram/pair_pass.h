// Passes over pairs of samples, blocked by columns, threaded; base values come from their cache or go to it.
#ifndef KWEAVE_GRAM_PAIR_PASS_H_
#define KWEAVE_GRAM_PAIR_PASS_H_

#include <algorithm>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "base/dot.h"
#include "base/memory.h"
#include "base/threads.h"
#include "compute/cpu/family_loops.h"
#include "gram/base_rows.h"
#include "gram/group.h"

namespace kweave {

/// Sums over left samples of functions of pairs, for every right sample: `count` functions x right samples.
struct Moments {
  Moments(Index function_count, Index right_samples)
      : functions(function_count), right_count(right_samples), values(function_count * right_samples, 0.0) {}

  Index functions;
  Index right_count;
  AlignedVector<double> values;
  std::span<const double> row(Index k) const {
    return {values.data() + k * right_count, static_cast<std::size_t>(right_count)};
  }
};

/// Keeps the rows of a block of moments out of each other's way in the cache: without it their starts share
/// sets.
inline constexpr Index kStridePadding = 16;

/// How a pass goes over pairs.
struct PassShape {
  /// Rows not asked for lately make room for new ones: where the same few rows are asked for again, as by
  /// solvers.
  bool may_evict = false;
  /// Threads share the batches of rows, each of them going through all columns, instead of the columns.
  bool by_rows = false;
  Index columns = kColumnBlock;      ///< visited at a time
  std::size_t batches_together = 1;  ///< visited at a time
};

/// Batches of rows that are prepared at a time: enough to make threads worth waking, few enough to bound what
/// is gathered for them.
inline constexpr std::size_t kBatchesAtATime = 16;

/// Base values of some left samples at some columns.
template <class T>
struct PairBlock {
  std::size_t first;                             ///< position of the first of them among all rows of the pass
  std::span<const Index> samples;                ///< the left samples
  Index begin, end;                              ///< the columns
  std::span<const std::vector<const T*>> bases;  ///< by base, a row for each sample, from column `begin` on

  std::span<const T* const> rows() const { return bases[0]; }  ///< where there is one base
  Index width() const { return end - begin; }
};

/// Every sample at every column.
struct AllPairs {
  bool operator()(std::span<const Index>, Index, Index) const { return true; }
};

/// The skeleton of all passes over pairs: calls visit(PairBlock) for the left samples `rows` against blocks
/// of columns, from all threads, row after row within a block of columns (or, by rows, columns in order
/// within a batch of rows). Base values come from their cache or go to it. Blocks that wants(samples, begin,
/// end) refuses are not visited, and not computed unless rows are kept.
template <class T, class Visit, class Wants = AllPairs>
void VisitPairs(std::span<BaseRows<T>* const> bases, std::span<const Index> rows, const PassShape& shape,
                ThreadPool& pool, Visit visit, Wants wants = {}) {
  using Batch = typename BaseRows<T>::Batch;
  const std::size_t rows_at_a_time = (shape.may_evict ? 1 : kBatchesAtATime) * kRowsPerCall;
  const Index columns = bases[0]->right_count();
  std::vector<std::vector<Batch>> batches(bases.size());
  for (std::size_t start = 0; start < rows.size(); start += rows_at_a_time) {
    const auto some = rows.subspan(start, std::min(rows_at_a_time, rows.size() - start));
    for (std::size_t t = 0; t < bases.size(); ++t) {
      batches[t] = bases[t]->PrepareAll(some, kRowsPerCall, shape.may_evict);
    }
    const std::size_t count = batches[0].size();
    const auto look = [&](std::size_t first, std::size_t last, Index begin, Index end) {
      thread_local AlignedVector<T> scratch;
      thread_local std::vector<std::vector<const T*>> values;
      thread_local std::vector<const T*> pointers;
      const std::size_t first_row = first * kRowsPerCall;
      const auto samples = some.subspan(first_row, std::min(last * kRowsPerCall, some.size()) - first_row);
      const bool is_wanted = wants(samples, begin, end);
      std::size_t missing = 0;
      bool is_kept = false;
      for (const auto& of_base : batches) {
        for (std::size_t b = first; b < last; ++b) {
          missing += of_base[b].missing.size();
          is_kept = is_kept || std::ranges::any_of(of_base[b].missing, [&](std::size_t r) {
                      return of_base[b].places[r] != nullptr;
                    });
        }
      }
      if (!is_wanted && !is_kept) return;
      scratch.resize(std::max<std::size_t>(scratch.size(), missing * (end - begin)));
      values.resize(std::max(values.size(), bases.size()));
      T* place = scratch.data();
      for (std::size_t t = 0; t < bases.size(); ++t) {
        values[t].clear();
        for (std::size_t b = first; b < last; ++b) {
          bases[t]->Read(batches[t][b], begin, end, place, pointers);
          place += batches[t][b].missing.size() * (end - begin);
          values[t].insert(values[t].end(), pointers.begin(), pointers.end());
        }
      }
      if (is_wanted)
        visit(PairBlock<T>{start + first_row, samples, begin, end, std::span(values).first(bases.size())});
    };
    if (shape.by_rows) {
      pool.ParallelFor(static_cast<Index>(count), 1, [&](Index b, Index, int) {
        for (Index begin = 0; begin < columns; begin += shape.columns) {
          look(b, b + 1, begin, std::min(begin + shape.columns, columns));
        }
      });
    } else {
      pool.ParallelFor(columns, shape.columns, [&](Index begin, Index end, int) {
        for (std::size_t b = 0; b < count; b += shape.batches_together) {
          look(b, std::min(b + shape.batches_together, count), begin, end);
        }
      });
    }
    for (std::size_t t = 0; t < bases.size(); ++t) {
      for (const Batch& batch : batches[t]) bases[t]->Commit(batch);
    }
  }
}

/// The same with one base.
template <class T, class Visit, class Wants = AllPairs>
void VisitPairs(BaseRows<T>& base, std::span<const Index> rows, const PassShape& shape, ThreadPool& pool,
                Visit visit, Wants wants = {}) {
  BaseRows<T>* const bases[] = {&base};
  VisitPairs<T>(std::span<BaseRows<T>* const>(bases), rows, shape, pool, visit, wants);
}

/// Factors of some left samples, and where the sums with them go.
template <class T>
struct WeightedMoments {
  std::vector<T> factors;
  Moments* moments;
};

/// Adds up rows with factors for one target, over columns [begin, begin + width): at most kRowsPerCall rows
/// are accumulated in float before they are summed in double. Rows that only others of many targets need cost
/// this one nothing.
template <class T, class Add>
void AddRowsTo(const WeightedMoments<T>& target, std::size_t first, std::span<const T* const> rows,
               Index begin, Index width, AlignedVector<T>& block, Add add) {
  thread_local std::vector<const T*> used;
  thread_local std::vector<T> used_factors;
  const Index stride = width + kStridePadding;
  const auto flush = [&] {
    if (used.empty()) return;
    add(WeightedRows<T>{used, used_factors}, width, block.data(), stride);
    for (Index k = 0; k < target.moments->functions; ++k) {
      Flush<T>(block.data() + k * stride, width,
               target.moments->values.data() + k * target.moments->right_count + begin);
    }
    used.clear(), used_factors.clear();
  };
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (target.factors[first + r] == 0) continue;
    used.push_back(rows[r]);
    used_factors.push_back(target.factors[first + r]);
    if (std::is_same_v<T, float> && used.size() == static_cast<std::size_t>(kRowsPerCall)) flush();
  }
  flush();
}

/// Adds up the functions of pairs over the left samples `rows`, with the factors of every target: add(rows
/// with factors, columns, block, stride) accumulates in T for one batch of rows; the batches are summed in
/// double. Each of many targets has few of the rows of a batch, so these go through many batches at a time,
/// on fewer columns.
template <class T, class Add>
void AddMoments(BaseRows<T>& base, std::span<const Index> rows,
                const std::vector<WeightedMoments<T>>& targets, ThreadPool& pool, Add add) {
  constexpr std::size_t kFewTargets = 2;  // a vector and the dual point beside it
  PassShape shape;
  // A quarter of the columns keeps the rows of that many batches in the caches.
  if (targets.size() > kFewTargets)
    shape = {.columns = kColumnBlock / 4, .batches_together = kBatchesAtATime};
  const Index functions = targets[0].moments->functions;
  VisitPairs<T>(base, rows, shape, pool, [&](const PairBlock<T>& pairs) {
    thread_local AlignedVector<T> block;
    // All zeros, as every use leaves it.
    block.resize(std::max<std::size_t>(block.size(), functions * (pairs.width() + kStridePadding)), T{0});
    for (const WeightedMoments<T>& target : targets) {
      AddRowsTo<T>(target, pairs.first, pairs.rows(), pairs.begin, pairs.width(), block, add);
    }
  });
}

/// Sums of the functions over all pairs of training samples, whose base is symmetric: pairs of different
/// blocks of columns are computed once and count twice. `add` as above.
template <class T, class Add>
std::vector<double> SumOverPairs(BaseRows<T>& base, Index functions, ThreadPool& pool, Add add) {
  static_assert(kColumnBlock % kRowsPerCall == 0);
  const Index blocks = (base.right_count() + kColumnBlock - 1) / kColumnBlock;
  std::vector<double> sums(blocks * functions, 0.0);
  std::vector<Index> all(static_cast<std::size_t>(base.left_count()));
  std::iota(all.begin(), all.end(), Index{0});
  const auto wants = [](std::span<const Index> samples, Index, Index end) { return samples.front() < end; };
  VisitPairs<T>(
      base, all, {}, pool,
      [&](const PairBlock<T>& pairs) {
        thread_local AlignedVector<T> block;
        const Index stride = pairs.width() + kStridePadding;
        block.assign(functions * stride, T{0});
        const std::vector<T> factors(pairs.samples.size(), pairs.samples.front() < pairs.begin ? T{2} : T{1});
        add(WeightedRows<T>{pairs.rows(), factors}, pairs.width(), block.data(), stride);
        for (Index k = 0; k < functions; ++k) {
          const T* const row = block.data() + k * stride;
          sums[pairs.begin / kColumnBlock * functions + k] += std::accumulate(row, row + pairs.width(), 0.0);
        }
      },
      wants);
  std::vector<double> totals(functions, 0.0);
  for (std::size_t s = 0; s < sums.size(); ++s) totals[s % functions] += sums[s];
  return totals;
}

/// totals[k] += sum of a_i a_j function_k(i, j) over the pairs of one of `samples`, whose base values at the
/// columns [begin, end) are `rows`, and one of these columns, both in the support of `a`. Pairs with columns
/// before the samples were counted with those; columns after them count twice. `add` as above.
template <class T, class Add>
void AddSupportPairs(std::span<const double> a, std::span<const Index> support,
                     std::span<const Index> samples, std::span<const T* const> rows, Index begin, Index end,
                     std::span<double> totals, Add add) {
  thread_local AlignedVector<T> gathered, block;
  thread_local std::vector<const T*> used;
  thread_local std::vector<T> factors;
  thread_local std::vector<double> weights, wide;
  const auto first = std::ranges::lower_bound(support, std::max(begin, samples.front()));
  const std::span columns(first, std::lower_bound(first, support.end(), end));
  const std::size_t count = columns.size(), stride = count + kStridePadding;
  gathered.resize(std::max(gathered.size(), rows.size() * count));
  used.clear(), factors.clear(), weights.clear();
  for (std::size_t r = 0; r < rows.size() && count > 0; ++r) {
    const double factor = a[static_cast<std::size_t>(samples[r])];
    if (factor == 0) continue;
    T* const row = gathered.data() + used.size() * count;
    for (std::size_t j = 0; j < count; ++j) row[j] = rows[r][columns[j] - begin];
    used.push_back(row);
    factors.push_back(static_cast<T>(factor));
  }
  if (used.empty()) return;
  for (const Index column : columns)
    weights.push_back((column <= samples.back() ? 1 : 2) * a[static_cast<std::size_t>(column)]);
  block.assign(totals.size() * stride, T{0});
  add(WeightedRows<T>{used, factors}, static_cast<Index>(count), block.data(), static_cast<Index>(stride));
  for (std::size_t k = 0; k < totals.size(); ++k) {
    const std::span<const T> sums(block.data() + k * stride, count);
    wide.assign(sums.begin(), sums.end());
    totals[k] += Dot(weights, wide);
  }
}

}  // namespace kweave

#endif  // KWEAVE_GRAM_PAIR_PASS_H_
