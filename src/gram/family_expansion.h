#ifndef KWEAVE_GRAM_FAMILY_EXPANSION_H_
#define KWEAVE_GRAM_FAMILY_EXPANSION_H_

#include <numeric>
#include <span>
#include <vector>

#include "base/dot.h"
#include "compute/cpu/family_loops.h"
#include "gram/family_basis.h"
#include "gram/pair_pass.h"

namespace kweave {

/// What a family says about one vector: the sums of every function of its basis, for every right sample.
template <class T>
class FamilyExpansion : public GroupExpansion {
 public:
  FamilyExpansion(const FamilyBasis<T>& basis, std::span<const FamilyMember> members, BaseRows<T>& base)
      : basis_(basis), members_(members), base_(base), moments_(basis.size(), base.right_count()) {}

  void Add(const SupportVector& entries, ThreadPool& pool) override {
    const std::vector<T> factors(entries.factors.begin(), entries.factors.end());
    AddMoments<T>(base_, entries.rows, {{factors, &moments_}}, pool, Adder());
    sum_ += entries.sum;
  }

  // Each expansion becomes that of its vector; all of them were zero.
  static void AddTogether(std::span<const std::span<const double>> vectors,
                          std::span<FamilyExpansion* const> expansions, ThreadPool& pool) {
    const std::vector<Index> rows = CommonSupport(vectors);
    std::vector<WeightedMoments<T>> targets;
    for (std::size_t v = 0; v < vectors.size(); ++v) {
      targets.push_back({{}, &expansions[v]->moments_});
      for (const Index i : rows) targets.back().factors.push_back(static_cast<T>(vectors[v][i]));
      expansions[v]->sum_ = std::accumulate(vectors[v].begin(), vectors[v].end(), 0.0);
    }
    AddMoments<T>(expansions[0]->base_, rows, targets, pool, expansions[0]->Adder());
  }

  void Quadratics(std::span<const double> a, std::span<double> q) const override { Products(a, q); }

  void Products(std::span<const double> b, std::span<double> products) const override {
    std::vector<double> values(basis_.size());
    for (Index k = 0; k < basis_.size(); ++k) values[k] = Dot(b, moments_.row(k));
    const double shift = basis_.shift() * sum_ * std::accumulate(b.begin(), b.end(), 0.0);
    for (std::size_t m = 0; m < members_.size(); ++m) {
      products[members_[m].kernel] = members_[m].scale * (basis_.Apply(m, values) + shift);
    }
  }

  void AddOutputs(std::span<const double> theta, std::span<double> out) const override {
    std::vector<double> weights(members_.size());
    double shift = 0;
    bool is_zero = true;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      weights[m] = theta[members_[m].kernel] * members_[m].scale;
      shift += weights[m] * basis_.shift() * sum_;
      is_zero = is_zero && weights[m] == 0;
    }
    if (is_zero) return;
    const std::vector<double> coefficients = basis_.Combine(weights);
    for (Index k = 0; k < basis_.size(); ++k) {
      if (coefficients[k] == 0) continue;
      AddScaled<double>(moments_.row(k).data(), static_cast<Index>(out.size()), coefficients[k], out.data());
    }
    if (shift != 0) {
      for (double& value : out) value += shift;
    }
  }

 private:
  auto Adder() const {
    return [this](const WeightedRows<T>& base, Index count, T* block, Index stride) {
      basis_.AddMoments(base, count, base_.is_mapped(), block, stride);
    };
  }

  const FamilyBasis<T>& basis_;
  std::span<const FamilyMember> members_;
  BaseRows<T>& base_;
  Moments moments_;
  double sum_ = 0;
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_FAMILY_EXPANSION_H_
