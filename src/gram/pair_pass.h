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

/// Calls use(base pointers of all rows, first column, columns) for blocks of columns, from all threads.
template <class T, class Use>
void ForBaseBlocks(BaseRows<T>& base, std::span<const Index> rows, ThreadPool& pool, Use use) {
  for (std::size_t first = 0; first < rows.size(); first += kRowBatch) {
    const auto batch_rows = rows.subspan(first, std::min<std::size_t>(kRowBatch, rows.size() - first));
    const auto batch = base.Prepare(batch_rows, /*may_evict=*/true);
    pool.ParallelFor(base.right_count(), kColumnBlock, [&](Index begin, Index end, int) {
      thread_local AlignedVector<T> scratch;
      thread_local std::vector<const T*> pointers;
      scratch.resize(std::max<std::size_t>(scratch.size(), batch.missing.size() * (end - begin)));
      base.Read(batch, begin, end, scratch.data(), pointers);
      use(first, std::span<const T* const>(pointers), begin, end - begin);
    });
    base.Commit(batch);
  }
}

/// Factors of some left samples, and where the sums with them go.
template <class T>
struct WeightedMoments {
  std::vector<T> factors;
  Moments* moments;
};

/// Adds up rows with factors for one target, over columns [begin, begin + width): at most kRowBatch rows are accumulated in
/// float before they are summed in double. Rows that only others of many targets need cost this one nothing.
template <class T, class Add>
void AddRowsTo(const WeightedMoments<T>& target, std::size_t first, std::span<const T* const> rows,
               Index begin, Index width, AlignedVector<T>& block, Add add) {
  thread_local std::vector<const T*> used;
  thread_local std::vector<T> used_factors;
  const Index stride = width + kStridePadding;
  const auto flush = [&] {
    if (used.empty()) return;
    add(WeightedRows<T>{used, used_factors}, begin, width, block.data(), stride);
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
    if (std::is_same_v<T, float> && used.size() == static_cast<std::size_t>(kRowBatch)) flush();
  }
  flush();
}

/// Adds up the functions of pairs over the left samples `rows`, with the factors of every target: add(rows with factors,
/// first column, columns, block, stride) accumulates in T for one batch of rows; the batches are summed in double.
/// Each of many targets has few of the rows of a batch, so these go through many batches at a time, on fewer columns.
template <class T, class Add>
void AddMoments(BaseRows<T>& base, std::span<const Index> rows,
                const std::vector<WeightedMoments<T>>& targets, ThreadPool& pool, Add add) {
  const Index functions = targets[0].moments->functions;
  // Enough batches at a time to make threads worth waking, few enough to bound what is gathered for them.
  constexpr std::size_t kBatches = 16, kRowsAtATime = kBatches * kRowBatch;
  constexpr std::size_t kFewTargets = 2;
  const bool has_many = targets.size() > kFewTargets;
  const Index columns_at_a_time = has_many ? kColumnBlock / 4 : kColumnBlock;
  const std::size_t batches_at_a_time = has_many ? kBatches : 1;
  for (std::size_t start = 0; start < rows.size(); start += kRowsAtATime) {
    const auto batches =
        base.PrepareAll(rows.subspan(start, std::min(kRowsAtATime, rows.size() - start)), kRowBatch);
    pool.ParallelFor(base.right_count(), columns_at_a_time, [&](Index begin, Index end, int) {
      thread_local AlignedVector<T> scratch, block;
      thread_local std::vector<const T*> pointers, together;
      const Index width = end - begin;
      block.assign(functions * (width + kStridePadding), T{0});
      scratch.resize(std::max<std::size_t>(scratch.size(), batches_at_a_time * kRowBatch * width));
      for (std::size_t first = 0; first < batches.size(); first += batches_at_a_time) {
        together.clear();
        T* place = scratch.data();
        for (std::size_t b = first; b < std::min(first + batches_at_a_time, batches.size()); ++b) {
          base.Read(batches[b], begin, end, place, pointers);
          place += batches[b].missing.size() * width;
          together.insert(together.end(), pointers.begin(), pointers.end());
        }
        for (const WeightedMoments<T>& target : targets) {
          AddRowsTo<T>(target, start + first * kRowBatch, together, begin, width, block, add);
        }
      }
    });
    for (const auto& batch : batches) base.Commit(batch);
  }
}

/// Sums of the functions over all pairs of training samples, whose base is symmetric: pairs of different blocks of
/// columns are computed once and count twice. `add` as above.
template <class T, class Add>
std::vector<double> SumOverPairs(const BaseBlock<T>& base, Index samples, Index functions, ThreadPool& pool,
                                 Add add) {
  static_assert(kColumnBlock % kRowBatch == 0);
  const Index blocks = (samples + kColumnBlock - 1) / kColumnBlock;
  std::vector<double> sums(blocks * functions, 0.0);
  pool.ParallelFor(blocks, 1, [&](Index piece, Index, int) {
    const Index block_number = blocks - 1 - piece;  // those with most rows first
    const Index begin = block_number * kColumnBlock, end = std::min(begin + kColumnBlock, samples);
    const Index width = end - begin, stride = width + kStridePadding;
    AlignedVector<T> left, values(kRowBatch * width), block(functions * stride, T{0});
    std::vector<double> moments(functions * width, 0.0);
    std::vector<Index> rows;
    std::vector<const T*> pointers;
    for (Index first = 0; first < end; first += kRowBatch) {
      rows.resize(std::min(kRowBatch, end - first));
      std::iota(rows.begin(), rows.end(), first);
      base.GatherLeft(rows, left);
      base.Compute(rows, left, begin, end, values.data(), width);
      pointers.clear();
      for (std::size_t r = 0; r < rows.size(); ++r) pointers.push_back(values.data() + r * width);
      const std::vector<T> factors(rows.size(), first < begin ? T{2} : T{1});
      add(WeightedRows<T>{pointers, factors}, begin, width, block.data(), stride);
      for (Index k = 0; k < functions; ++k) {
        Flush<T>(block.data() + k * stride, width, moments.data() + k * width);
      }
    }
    for (Index k = 0; k < functions; ++k) {
      const auto row = moments.begin() + k * width;
      sums[block_number * functions + k] = std::accumulate(row, row + width, 0.0);
    }
  });
  std::vector<Index> all(static_cast<std::size_t>(samples));
  std::iota(all.begin(), all.end(), Index{0});
  base.Release(all);
  std::vector<double> totals(functions, 0.0);
  for (std::size_t s = 0; s < sums.size(); ++s) totals[s % functions] += sums[s];
  return totals;
}

/// totals[k] += sum of a_i a_j function_k(i, j) over the pairs of one of `samples`, whose base values at the columns [begin, end) are
/// `rows`, and one of these columns, both in the support of `a`. Pairs with columns before the samples were counted with those; columns
/// after them count twice. `add` as above, without the first column.
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

/// Sums of a_i a_j function(i, j) over the pairs of entries of `a` that are not zero, each pair computed once. `add` as above,
/// without the first column.
template <class T, class Add>
std::vector<double> SumOverSupport(BaseRows<T>& base, std::span<const double> a, std::size_t functions,
                                   ThreadPool& pool, Add add) {
  const std::vector<Index> support = CommonSupport(std::span(&a, 1));
  const Index blocks = (base.right_count() + kColumnBlock - 1) / kColumnBlock;
  std::vector<double> sums(static_cast<std::size_t>(blocks) * functions, 0.0);
  constexpr std::size_t kRowsAtATime = 16 * kRowBatch;
  for (std::size_t start = 0; start < support.size(); start += kRowsAtATime) {
    const auto batches =
        base.PrepareAll(std::span(support).subspan(start, std::min(kRowsAtATime, support.size() - start)),
                        static_cast<std::size_t>(kRowBatch));
    pool.ParallelFor(base.right_count(), kColumnBlock, [&](Index begin, Index end, int) {
      thread_local AlignedVector<T> scratch;
      thread_local std::vector<const T*> rows;
      for (const auto& batch : batches) {
        // Rows that are to be kept are computed as a whole.
        const bool is_kept =
            std::ranges::any_of(batch.missing, [&](std::size_t r) { return batch.places[r] != nullptr; });
        if (end <= batch.rows.front() && !is_kept) continue;
        scratch.resize(std::max<std::size_t>(scratch.size(),
                                             batch.missing.size() * static_cast<std::size_t>(end - begin)));
        base.Read(batch, begin, end, scratch.data(), rows);
        AddSupportPairs<T>(
            a, support, batch.rows, rows, begin, end,
            std::span(sums).subspan(static_cast<std::size_t>(begin / kColumnBlock) * functions, functions),
            add);
      }
    });
    for (const auto& batch : batches) base.Commit(batch);
  }
  std::vector<double> totals(functions, 0.0);
  for (std::size_t s = 0; s < sums.size(); ++s) totals[s % functions] += sums[s];
  return totals;
}

}  // namespace kweave

#endif  // KWEAVE_GRAM_PAIR_PASS_H_
