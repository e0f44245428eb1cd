#include "gram/direct_measure.h"

#include <algorithm>
#include <vector>

#include "compute/cpu/grouped_exponentials.h"
#include "gram/pair_pass.h"

namespace kweave {
namespace {

std::vector<double> Picked(std::span<const double> values, std::span<const std::size_t> which) {
  std::vector<double> picked;
  for (const std::size_t m : which) picked.push_back(values[m]);
  return picked;
}

std::vector<std::size_t> Nonzero(std::span<const double> weights) {
  std::vector<std::size_t> nonzero;
  for (std::size_t m = 0; m < weights.size(); ++m) {
    if (weights[m] != 0) nonzero.push_back(m);
  }
  return nonzero;
}

// Some pairs of one row, gathered.
struct Pairs {
  std::vector<Index> columns;
  std::vector<double> base, sums;
  std::vector<std::vector<double>> factors;  // by vector

  explicit Pairs(std::size_t vectors) : factors(vectors) {}
  void Clear() {
    columns.clear(), base.clear();
    for (auto& values : factors) values.clear();
  }
  // Base values of zero fill the last vectors: they add nothing.
  Index Fill() {
    const std::size_t multiple = GroupedExponentials::kMultiple;
    const std::size_t count = (columns.size() + multiple - 1) / multiple * multiple;
    base.resize(count, 0.0);
    for (auto& values : factors) values.resize(count, 0.0);
    sums.assign(count, 0.0);
    return static_cast<Index>(count);
  }
};

// What one batch of rows adds to a vector's results.
struct Share {
  std::vector<double> outputs, totals;
};

class DirectPass {
 public:
  DirectPass(BaseRows<double>& base, std::span<const double> gammas, std::span<const double> weights,
             std::span<DirectVector> vectors)
      : base_(base),
        vectors_(vectors),
        active_(Nonzero(weights)),
        all_(gammas, base.block().traits().upper_bound),
        weighted_(Picked(gammas, active_), base.block().traits().upper_bound),
        all_weights_(all_.Arrange(weights)),
        weighted_weights_(weighted_.Arrange(Picked(weights, active_))) {
    for (Index i = 0; i < base.left_count(); ++i) {
      is_support_.push_back(std::ranges::any_of(vectors, [&](const auto& v) { return v.a[i] != 0; }));
      if (is_support_.back()) rows_.push_back(i);
    }
  }

  void Run(ThreadPool& pool) {
    for (DirectVector& vector : vectors_) vector.quadratics.assign(all_.size(), 0.0);
    // As many batches at a time as a pass prepares, which bounds their sums.
    const std::size_t rows_at_a_time = kBatchesAtATime * kRowsPerCall;
    for (std::size_t start = 0; start < rows_.size(); start += rows_at_a_time) {
      const auto some = std::span(rows_).subspan(start, std::min(rows_at_a_time, rows_.size() - start));
      const Share nothing{std::vector<double>(base_.right_count(), 0.0),
                          std::vector<double>(all_.size(), 0.0)};
      std::vector<std::vector<Share>> shares((some.size() + kRowsPerCall - 1) / kRowsPerCall,
                                             std::vector<Share>(vectors_.size(), nothing));
      VisitPairs<double>(base_, some, {.by_rows = true}, pool, [&](const PairBlock<double>& pairs) {
        AddPairs(pairs, shares[pairs.first / kRowsPerCall]);
      });
      for (const std::vector<Share>& of_batch : shares) {
        for (std::size_t v = 0; v < vectors_.size(); ++v) AddShare(of_batch[v], vectors_[v]);
      }
    }
  }

 private:
  void AddShare(const Share& share, DirectVector& vector) const {
    for (std::size_t j = 0; j < share.outputs.size(); ++j) vector.outputs[j] += share.outputs[j];
    all_.AddBack(share.totals, vector.quadratics);
  }

  void AddPairs(const PairBlock<double>& pairs, std::vector<Share>& shares) const {
    Pairs both(vectors_.size()), one(0);
    for (std::size_t r = 0; r < pairs.samples.size(); ++r) {
      Gather(pairs.samples[r], pairs.rows()[r], pairs.begin, pairs.end, both, one);
      AddBoth(pairs.samples[r], both, shares);
      AddOne(pairs.samples[r], one, shares);
    }
  }

  // Later support samples, whose pair with this one serves both, and samples outside.
  void Gather(Index i, const double* base, Index begin, Index end, Pairs& both, Pairs& one) const {
    both.Clear(), one.Clear();
    for (Index j = begin; j < end; ++j) {
      if (is_support_[j] && j <= i) continue;
      Pairs& pairs = is_support_[j] ? both : one;
      pairs.columns.push_back(j);
      pairs.base.push_back(base[j - begin]);
      if (!is_support_[j]) continue;
      for (std::size_t v = 0; v < vectors_.size(); ++v) {
        both.factors[v].push_back(2 * vectors_[v].a[i] * vectors_[v].a[j]);
      }
    }
  }

  void AddBoth(Index i, Pairs& pairs, std::vector<Share>& shares) const {
    const Index count = pairs.Fill();
    std::vector<GroupedExponentials::Total> totals;
    for (std::size_t v = 0; v < shares.size(); ++v) {
      totals.push_back({pairs.factors[v].data(), shares[v].totals.data()});
    }
    all_.Add(pairs.base.data(), count, all_weights_, pairs.sums.data(), totals);
    for (std::size_t v = 0; v < shares.size(); ++v) {
      const std::span<const double> a = vectors_[v].a;
      for (std::size_t k = 0; k < pairs.columns.size(); ++k) {
        const Index j = pairs.columns[k];
        shares[v].outputs[j] += a[i] * pairs.sums[k];
        shares[v].outputs[i] += a[j] * pairs.sums[k];
      }
    }
  }

  void AddOne(Index i, Pairs& pairs, std::vector<Share>& shares) const {
    const Index count = pairs.Fill();
    weighted_.Add(pairs.base.data(), count, weighted_weights_, pairs.sums.data(), {});
    for (std::size_t v = 0; v < shares.size(); ++v) {
      const double factor = vectors_[v].a[i];
      for (std::size_t k = 0; k < pairs.columns.size(); ++k) {
        shares[v].outputs[pairs.columns[k]] += factor * pairs.sums[k];
      }
    }
  }

  BaseRows<double>& base_;
  std::span<DirectVector> vectors_;
  const std::vector<std::size_t> active_;
  const GroupedExponentials all_, weighted_;
  const std::vector<double> all_weights_, weighted_weights_;
  std::vector<char> is_support_;  // by sample
  std::vector<Index> rows_;       // of the support
};

}  // namespace

void MeasureDirectly(BaseRows<double>& base, std::span<const double> gammas, std::span<const double> weights,
                     std::span<DirectVector> vectors, ThreadPool& pool) {
  DirectPass(base, gammas, weights, vectors).Run(pool);
}

}  // namespace kweave
