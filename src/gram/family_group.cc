#include "gram/family_group.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compute/cpu/family_loops.h"
#include "gram/direct_measure.h"
#include "gram/family_basis.h"
#include "gram/family_expansion.h"
#include "gram/measure_pass.h"
#include "gram/pair_pass.h"
#include "gram/rough_terms.h"

namespace kweave {
namespace {

constexpr double kTailShare = 1;  // of the error of a table, that a learned kernel may add to it

template <class T>
class FamilyGroup : public Group<T> {
 public:
  FamilyGroup(Shape shape, std::vector<FamilyMember> members, BaseRows<T>& base, bool is_own_base,
              FamilyEvaluation evaluation, double learned_error)
      : shape_(shape),
        members_(std::move(members)),
        base_(base),
        is_own_base_(is_own_base),
        evaluation_(evaluation),
        learned_error_(learned_error),
        basis_(shape, members_, base, evaluation) {}

  void SetWeights(std::span<const double> theta) override { learned_ = MakeLearned(theta); }

  // Tables of exponentials have the variable of the bound on all samples, also on a part of them.
  void MapBase() override {
    if (is_own_base_ && shape_ == Shape::kExponential && basis_.has_table())
      base_.MapTo(basis_.VariableOf(/*is_mapped=*/false));
  }

  void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) override {
    if (learned_.is_zero()) return;
    ForBaseBlocks<T>(base_, rows, pool,
                     [&](std::size_t first, std::span<const T* const> base, Index begin, Index count) {
                       for (std::size_t r = 0; r < base.size(); ++r)
                         AddRow(learned_, base[r], count, out + (first + r) * stride + begin);
                     });
  }

  double RowShift(std::span<const double> theta) const override {
    double shift = 0;
    for (const FamilyMember& member : members_) shift += theta[member.kernel] * member.scale * basis_.shift();
    return shift;
  }

  void AddDiagonal(std::span<double> out) const override {
    if (learned_.is_zero()) return;
    const std::vector<double>& base = LeftDiagonal();
    double value = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i < base.size())
        value = base.size() > 1 && UsesTable(learned_) ? basis_.TableValue(learned_.combined, base[i])
                                                       : LearnedValue(base[i]);
      out[i] += value;
    }
  }

  void MeanDiagonals(Index, std::span<double> means) const override {
    const std::vector<double>& base = LeftDiagonal();
    if (base.size() > 1 && basis_.has_table()) {
      std::vector<double> sums(basis_.size(), 0.0);
      for (double value : base) {
        const std::vector<double> values = basis_.TableValues(value);
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += values[k] / static_cast<double>(base.size());
      }
      for (std::size_t m = 0; m < members_.size(); ++m) {
        means[members_[m].kernel] = members_[m].scale * (basis_.Apply(m, sums) + basis_.shift());
      }
      return;
    }
    for (const FamilyMember& member : members_) {
      double sum = 0;
      for (double value : base) sum += ShapeValue(shape_, member.parameters, value);
      means[member.kernel] = member.scale * sum / static_cast<double>(base.size());
    }
  }

  void MeansOfAllPairs(Index count, std::span<double> means, ThreadPool& pool) override {
    std::vector<double> totals =
        SumOverPairs<T>(base_.block(), count, basis_.size(), pool,
                        [&](const WeightedRows<T>& base, Index, Index columns, T* block, Index stride) {
                          basis_.AddMoments(base, columns, base_.block().IsMapped(), block, stride);
                        });
    for (double& total : totals) total /= static_cast<double>(count) * static_cast<double>(count);
    for (std::size_t m = 0; m < members_.size(); ++m) {
      means[members_[m].kernel] = members_[m].scale * (basis_.Apply(m, totals) + basis_.shift());
    }
  }

  std::unique_ptr<GroupExpansion> StartExpansion() override {
    return std::make_unique<FamilyExpansion<T>>(basis_, members_, base_);
  }

  std::vector<std::unique_ptr<GroupExpansion>> ExpandAll(std::span<const std::span<const double>> vectors,
                                                         ThreadPool& pool) override {
    std::vector<std::unique_ptr<GroupExpansion>> expansions;
    std::vector<FamilyExpansion<T>*> own;
    for (std::size_t v = 0; v < vectors.size(); ++v) {
      auto expansion = std::make_unique<FamilyExpansion<T>>(basis_, members_, base_);
      own.push_back(expansion.get());
      expansions.push_back(std::move(expansion));
    }
    if (!own.empty()) FamilyExpansion<T>::AddTogether(vectors, own, pool);
    return expansions;
  }

  void Measure(std::span<const double> theta, std::span<const std::span<const double>> vectors,
               std::span<Measurement> measured, ThreadPool& pool) override {
    if constexpr (std::is_same_v<T, double>) {
      if (shape_ == Shape::kExponential && !basis_.has_table() && members_.size() > kDirectMembers) {
        MeasureExponentials(theta, vectors, measured, pool);
      } else {
        std::vector<MeasureRequest> requests;
        for (const std::span<const double> a : vectors) requests.push_back({theta, a});
        MeasureFromBasis(requests, measured, pool);
      }
    } else {
      Group<T>::Measure(theta, vectors, measured, pool);
    }
  }

  QuadraticsCost quadratics_cost() const override { return QuadraticsCost::kSupport; }
  void SupportQuadratics(std::span<const double> a, std::span<double> q, ThreadPool& pool) override {
    const std::vector<double> totals =
        SumOverSupport<T>(base_, a, static_cast<std::size_t>(basis_.size()), pool,
                          [this](const WeightedRows<T>& base, Index count, T* block, Index stride) {
                            basis_.AddMoments(base, count, base_.is_mapped(), block, stride);
                          });
    const double sum = std::accumulate(a.begin(), a.end(), 0.0);
    for (std::size_t m = 0; m < members_.size(); ++m) {
      q[members_[m].kernel] = members_[m].scale * (basis_.Apply(m, totals) + basis_.shift() * sum * sum);
    }
  }

  void MeasureEach(std::span<const MeasureRequest> requests, std::span<Measurement> measured,
                   ThreadPool& pool) override {
    if constexpr (std::is_same_v<T, double>) {
      if (requests.size() > 1) MapBase();
      MeasureFromBasis(requests, measured, pool);
    } else {
      Group<T>::MeasureEach(requests, measured, pool);
    }
  }

  double TableError() const override {
    double error = 0;
    for (std::size_t m = 0; m < members_.size(); ++m)
      error = std::max(error, members_[m].scale * (basis_.Error(m) + TailError(m)));
    return error;
  }

 private:
  // The group's share of a learned kernel.
  struct Learned {
    std::vector<double> weights;  // theta * scale, by member
    std::vector<T> active_gammas, active_weights;
    std::vector<PowerTerm<T>> active_powers;
    std::vector<T> coefficients;   // of the table, if there is one
    std::vector<double> combined;  // the same, not rounded

    bool is_zero() const { return active_weights.empty(); }
  };

  // Else the active members are evaluated one by one.
  bool UsesTable(const Learned& learned) const {
    const bool is_dearer = learned.active_weights.size() <= kDirectMembers &&
                           evaluation_ != FamilyEvaluation::kTable && !base_.is_mapped();
    return basis_.has_table() && !is_dearer;
  }

  Learned MakeLearned(std::span<const double> theta) const {
    Learned learned;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const double weight = theta[members_[m].kernel] * members_[m].scale;
      learned.weights.push_back(weight);
      if (weight == 0) continue;
      learned.active_gammas.push_back(basis_.gammas()[m]);
      learned.active_powers.push_back(basis_.powers()[m]);
      learned.active_weights.push_back(static_cast<T>(weight));
    }
    if (!basis_.has_table()) return learned;
    learned.combined = basis_.Combine(learned.weights);
    CutTail(learned);
    learned.coefficients.assign(learned.combined.begin(), learned.combined.end());
    return learned;
  }

  // What a member may add to the error of a learned kernel. Errors of a table are in proportion to the range of its members:
  // wide ones hardly vary, and are scaled up.
  double TailError(std::size_t m) const {
    return (kTailShare + learned_error_ / TableRelativeError<T>()) * basis_.Error(m);
  }

  // Where narrow widths have little weight, the sum needs fewer terms than its members: those left out add up to no more
  // than a share of the error that the table has anyway, and what was asked for.
  void CutTail(Learned& learned) const {
    double allowed = 0;
    for (std::size_t m = 0; m < members_.size(); ++m) allowed += std::abs(learned.weights[m]) * TailError(m);
    while (learned.combined.size() > 1 && std::abs(learned.combined.back()) <= allowed) {
      allowed -= std::abs(learned.combined.back());
      learned.combined.pop_back();
    }
  }

  // Every member at every pair, none kept.
  void MeasureExponentials(std::span<const double> theta, std::span<const std::span<const double>> vectors,
                           std::span<Measurement> measured,
                           ThreadPool& pool) requires std::is_same_v<T, double> {
    std::vector<double> weights(members_.size());
    for (std::size_t m = 0; m < members_.size(); ++m) {
      weights[m] = theta[members_[m].kernel] * members_[m].scale;
    }
    std::vector<DirectVector> found;
    for (std::size_t v = 0; v < vectors.size(); ++v) found.push_back({vectors[v], measured[v].outputs, {}});
    MeasureDirectly(base_, basis_.gammas(), weights, found, pool);
    const double weight = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t v = 0; v < vectors.size(); ++v) {
      const double sum = std::accumulate(vectors[v].begin(), vectors[v].end(), 0.0);
      for (double& value : measured[v].outputs) value += weight * sum;
      for (std::size_t m = 0; m < members_.size(); ++m) {
        measured[v].quadratics[members_[m].kernel] = members_[m].scale * (found[v].quadratics[m] + sum * sum);
      }
    }
  }

  // Vectors with the same theta follow each other.
  void MeasureFromBasis(std::span<const MeasureRequest> requests, std::span<Measurement> measured,
                        ThreadPool& pool) requires std::is_same_v<T, double> {
    std::vector<MeasuredVector> found;
    std::vector<Learned> learned;
    for (std::size_t v = 0; v < requests.size(); ++v) {
      const MeasureRequest& request = requests[v];
      if (v == 0 || !std::ranges::equal(request.theta, requests[v - 1].theta)) {
        learned.push_back(MakeLearned(request.theta));
      }
      found.push_back({request.a, measured[v].outputs, std::vector<double>(basis_.size(), 0.0),
                       learned.size() - 1, request.precise_at});
      const bool has_terms = base_.is_mapped() && UsesTable(learned.back()) && !learned.back().is_zero();
      if (request.rough_error > 0 && has_terms) {
        found.back().rough_terms = RoughTerms(learned.back().combined, request.a, request.rough_error);
        if (!found.back().rough_terms.empty()) measured[v].rough_error += request.rough_error;
      }
    }
    MeasurePass(
        base_, std::span(found),
        [&](std::size_t number, const double* base, Index count, double* out) {
          if (!learned[number].is_zero()) AddRow(learned[number], base, count, out);
        },
        [this](const WeightedRows<double>& base, Index count, double* block, Index stride) {
          basis_.AddMoments(base, count, base_.is_mapped(), block, stride);
        })
        .Run(pool);
    for (std::size_t v = 0; v < requests.size(); ++v) {
      const double shift = RowShift(requests[v].theta);
      const double sum = std::accumulate(requests[v].a.begin(), requests[v].a.end(), 0.0);
      if (shift != 0) {
        for (double& value : measured[v].outputs) value += shift * sum;
      }
      for (std::size_t m = 0; m < members_.size(); ++m) {
        measured[v].quadratics[members_[m].kernel] =
            members_[m].scale * (basis_.Apply(m, found[v].totals) + basis_.shift() * sum * sum);
      }
    }
  }

  // The base of every left sample with itself, or one value when all are the same (distances: a million widths need
  // one evaluation each).
  const std::vector<double>& LeftDiagonal() const {
    if (!diagonal_.empty()) return diagonal_;
    for (Index i = 0; i < base_.left_count(); ++i) diagonal_.push_back(base_.block().LeftDiagonal(i));
    if (std::ranges::all_of(diagonal_, [&](double value) { return value == diagonal_[0]; })) {
      diagonal_.resize(1);
    }
    return diagonal_;
  }

  // The learned kernel of this group at a base value, less what the rows leave out.
  double LearnedValue(double base) const {
    double sum = 0;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (learned_.weights[m] == 0) continue;
      sum += learned_.weights[m] * (ShapeValue(shape_, members_[m].parameters, base) - basis_.shift());
    }
    return sum;
  }

  void AddRow(const Learned& learned, const T* base, Index count, T* out) const {
    if (UsesTable(learned)) {
      AddChebyshev<T>(base, count, basis_.VariableOf(base_.is_mapped()), learned.coefficients, out);
    } else if (shape_ == Shape::kExponential) {
      AddExponentials<T>(base, count, learned.active_gammas, learned.active_weights, out);
    } else {
      AddPowers<T>(base, count, learned.active_powers, learned.active_weights, out);
    }
  }

  Shape shape_;
  std::vector<FamilyMember> members_;
  BaseRows<T>& base_;
  const bool is_own_base_;
  FamilyEvaluation evaluation_;
  double learned_error_;
  FamilyBasis<T> basis_;
  mutable std::vector<double> diagonal_;  // found when first asked for
  Learned learned_;                       // at the current weights
};

}  // namespace

template <class T>
std::unique_ptr<Group<T>> MakeFamilyGroup(Shape shape, std::vector<FamilyMember> members, BaseRows<T>& base,
                                          bool is_own_base, FamilyEvaluation evaluation,
                                          double learned_error) {
  return std::make_unique<FamilyGroup<T>>(shape, std::move(members), base, is_own_base, evaluation,
                                          learned_error);
}

template std::unique_ptr<Group<float>> MakeFamilyGroup(Shape, std::vector<FamilyMember>, BaseRows<float>&,
                                                       bool, FamilyEvaluation, double);
template std::unique_ptr<Group<double>> MakeFamilyGroup(Shape, std::vector<FamilyMember>, BaseRows<double>&,
                                                        bool, FamilyEvaluation, double);

}  // namespace kweave
