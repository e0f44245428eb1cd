// Solves   outputs sum_m theta_m K_m a and quadratics a' K_m a of kernels that are functions of one base
//          quantity.
// Method   one pass over the pairs of a support sample and any sample. The outputs need the learned kernel
//          alone, one function for all vectors with the same weights. The quadratics need every function of
//          the basis, but only between support samples, each pair once: a batch of them counts pairs with
//          later ones twice. Where few samples need precise outputs, these are gathered; those of all others
//          come from fewer terms, in float. Without outputs nothing but pairs of support samples is read.
// Takes    the base, how to add a row of a learned kernel and how to add up the functions; one vector or
//          more.
// Holds    sums are kept by block of columns and added in order, so threads change nothing.
// Costs    for s support samples of n, s n values of each learned kernel and s^2 / 2 of every function for
//          each vector; where outputs may be rough, s p of them for p precise samples, and s n of fewer terms
//          at half the width.
#ifndef KWEAVE_GRAM_MEASURE_PASS_H_
#define KWEAVE_GRAM_MEASURE_PASS_H_

#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "compute/cpu/family_loops.h"
#include "gram/pair_pass.h"
#include "gram/rough_terms.h"

namespace kweave {

/// One vector a over the samples and what is found about it.
struct MeasuredVector {
  std::span<const double> a;
  std::span<double> outputs;   ///< [j] += sum_i a_i learned(i,j); empty: not asked for
  std::vector<double> totals;  ///< [k] += sum_ij a_i a_j function_k(i,j); empty: not asked for
  std::size_t learned = 0;  ///< the number of its learned kernel; vectors with the same one follow each other
  /// With terms for rough outputs, of mapped base values, the samples whose outputs are those of the learned
  /// kernel; without, all of them are.
  std::span<const Index> precise_at = {};
  std::vector<float> rough_terms = {};
};

/// add_row(number, base, count, out) adds a learned kernel at these base values; add_functions(rows with
/// factors, count, block, stride) adds up the functions (compute/cpu/family_loops.h). T: float or double;
/// only double values have outputs.
template <class T, class AddRow, class AddFunctions>
class MeasurePass {
 public:
  MeasurePass(BaseRows<T>& base, std::span<MeasuredVector> vectors, AddRow add_row,
              AddFunctions add_functions)
      : base_(base), vectors_(vectors), add_row_(add_row), add_functions_(add_functions) {
    std::vector<std::span<const double>> spans;
    for (const MeasuredVector& vector : vectors) {
      spans.push_back(vector.a);
      own_support_.push_back(CommonSupport(std::span(spans).last(1)));
      const bool is_rough = !vector.rough_terms.empty();
      has_outputs_ = has_outputs_ || !vector.outputs.empty();
      rough_.emplace_back(is_rough ? vector.a.size() : 0);
      precise_.emplace_back(is_rough ? vector.precise_at.size() : 0);
    }
    support_ = CommonSupport(spans);
    for (const MeasuredVector& vector : vectors) functions_ = std::max(functions_, vector.totals.size());
    const Index blocks = (base.right_count() + kColumnBlock - 1) / kColumnBlock;
    totals_.assign(static_cast<std::size_t>(blocks) * vectors.size() * functions_, 0.0);
  }

  void Run(ThreadPool& pool) {
    // Without outputs, pairs with earlier columns were counted with those.
    const auto wants = [this](std::span<const Index> samples, Index, Index end) {
      return has_outputs_ || end > samples.front();
    };
    VisitPairs<T>(
        base_, support_, {}, pool,
        [this](const PairBlock<T>& pairs) {
          if constexpr (std::is_same_v<T, double>) {
            AddOutputs(pairs.samples, pairs.rows(), pairs.begin, pairs.width());
            AddRoughOutputs(pairs.samples, pairs.rows(), pairs.begin, pairs.end);
          }
          AddPairs(pairs.samples, pairs.rows(), pairs.begin, pairs.end);
        },
        wants);
    const std::size_t per_block = vectors_.size() * functions_;
    for (std::size_t t = 0; t < totals_.size(); ++t) {
      MeasuredVector& vector = vectors_[t % per_block / functions_];
      if (!vector.totals.empty()) vector.totals[t % functions_] += totals_[t];
    }
    for (std::size_t v = 0; v < vectors_.size(); ++v) FinishOutputs(v);
  }

 private:
  void AddOutputs(std::span<const Index> samples, std::span<const double* const> rows, Index begin,
                  Index width) {
    thread_local AlignedVector<double> learned;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::optional<std::size_t> number;  // of the learned kernel whose row this is
      for (const MeasuredVector& vector : vectors_) {
        const double factor = vector.a[samples[r]];
        if (factor == 0 || vector.outputs.empty() || !vector.rough_terms.empty()) continue;
        if (number != vector.learned) {
          number = vector.learned;
          learned.assign(width, 0.0);
          add_row_(vector.learned, rows[r], width, learned.data());
        }
        AddScaled<double>(learned.data(), width, factor, vector.outputs.data() + begin);
      }
    }
  }

  // Outputs of vectors that need few precise ones.
  void AddRoughOutputs(std::span<const Index> samples, std::span<const double* const> rows, Index begin,
                       Index end) {
    thread_local AlignedVector<float> short_rows;
    thread_local std::vector<std::size_t> own;  // rows of the vector
    const auto width = static_cast<std::size_t>(end - begin);
    short_rows.clear();
    for (std::size_t v = 0; v < vectors_.size(); ++v) {
      if (vectors_[v].rough_terms.empty()) continue;
      if (short_rows.empty()) {
        short_rows.resize(rows.size() * width);
        for (std::size_t r = 0; r < rows.size(); ++r)
          Shorten(rows[r], end - begin, short_rows.data() + r * width);
      }
      own.clear();
      for (std::size_t r = 0; r < rows.size(); ++r) {
        if (vectors_[v].a[samples[r]] != 0) own.push_back(r);
      }
      if (own.empty()) continue;
      AddRough(v, samples, own, short_rows, begin, width);
      AddPrecise(v, samples, own, rows, begin, end);
    }
  }

  void AddRough(std::size_t v, std::span<const Index> samples, std::span<const std::size_t> own,
                std::span<const float> short_rows, Index begin, std::size_t width) {
    thread_local AlignedVector<float> block;
    thread_local std::vector<float> terms;
    block.assign(width, 0.0F);
    for (std::size_t k = 0; k < own.size(); ++k) {
      terms = vectors_[v].rough_terms;
      for (float& term : terms) term *= static_cast<float>(vectors_[v].a[samples[own[k]]]);
      AddChebyshev<float>(short_rows.data() + own[k] * width, static_cast<Index>(width),
                          kMappedVariable<float>, terms, block.data());
      if (k % kRoughRows == kRoughRows - 1 || k + 1 == own.size()) {
        Flush<float>(block.data(), static_cast<Index>(width), rough_[v].data() + begin);
      }
    }
  }

  // The columns in [begin, end) that are to be precise, of all rows of the vector together.
  void AddPrecise(std::size_t v, std::span<const Index> samples, std::span<const std::size_t> own,
                  std::span<const double* const> rows, Index begin, Index end) {
    thread_local AlignedVector<double> gathered, learned;
    const std::span<const Index> all = vectors_[v].precise_at;
    const auto first = std::ranges::lower_bound(all, begin);
    const std::span columns(first, std::lower_bound(first, all.end(), end));
    if (columns.empty()) return;
    gathered.resize(own.size() * columns.size());
    double* place = gathered.data();
    for (const std::size_t r : own) {
      for (const Index j : columns) *place++ = rows[r][j - begin];
    }
    learned.assign(gathered.size(), 0.0);
    add_row_(vectors_[v].learned, gathered.data(), static_cast<Index>(gathered.size()), learned.data());
    double* const out = precise_[v].data() + (first - all.begin());
    for (std::size_t k = 0; k < own.size(); ++k) {
      AddScaled<double>(learned.data() + k * columns.size(), static_cast<Index>(columns.size()),
                        vectors_[v].a[samples[own[k]]], out);
    }
  }

  void FinishOutputs(std::size_t v) {
    if (rough_[v].empty()) return;
    const std::span<const Index> precise_at = vectors_[v].precise_at;
    for (std::size_t k = 0; k < precise_at.size(); ++k) rough_[v][precise_at[k]] = precise_[v][k];
    for (std::size_t j = 0; j < rough_[v].size(); ++j) vectors_[v].outputs[j] += rough_[v][j];
  }

  // Each vector's pairs of a sample of the batch with one of the columns that it has, too.
  void AddPairs(std::span<const Index> samples, std::span<const T* const> rows, Index begin, Index end) {
    const std::size_t first = static_cast<std::size_t>(begin / kColumnBlock) * vectors_.size();
    for (std::size_t v = 0; v < vectors_.size(); ++v) {
      if (vectors_[v].totals.empty()) continue;
      AddSupportPairs<T>(vectors_[v].a, own_support_[v], samples, rows, begin, end,
                         std::span(totals_).subspan((first + v) * functions_, functions_), add_functions_);
    }
  }

  BaseRows<T>& base_;
  std::span<MeasuredVector> vectors_;
  const AddRow add_row_;
  const AddFunctions add_functions_;
  std::vector<Index> support_;                   // of all vectors together
  std::vector<std::vector<Index>> own_support_;  // of each
  // Of vectors with rough outputs: all of them, and those that are precise.
  std::vector<std::vector<double>> rough_, precise_;
  bool has_outputs_ = false;
  std::size_t functions_ = 0;
  std::vector<double> totals_;  // by block of columns, vector and function
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_MEASURE_PASS_H_
