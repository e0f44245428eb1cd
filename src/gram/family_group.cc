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
#include "gram/value_rounding.h"

namespace kweave {
namespace {

constexpr double kTailShare = 1;               // of the error of a table, that a learned kernel may add to it
constexpr std::size_t kMostDirectVectors = 2;  // as gram/direct_measure.h: those of a certificate

template <class T>
class FamilyGroup final : public Group<T> {
 public:
  FamilyGroup(const Shape& shape, std::vector<FamilyMember> members, BaseRows<T>& base, bool is_own_base,
              FamilyEvaluation evaluation, double learned_error)
      : shape_(shape),
        members_(std::move(members)),
        base_(base),
        is_own_base_(is_own_base),
        evaluation_(evaluation),
        learned_error_(learned_error),
        basis_(shape, members_, base, evaluation) {
    this->traits_.quadratics_cost = QuadraticsCost::kSupport;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      this->traits_.table_error =
          std::max(this->traits_.table_error, members_[m].scale * (basis_.Error(m) + TailError(m)));
      const double rounding = RoundingOf(shape_, members_[m].parameters, base_.block());
      if (rounding > 0)
        this->traits_.rounding_errors.push_back(
            {static_cast<std::size_t>(members_[m].kernel), members_[m].scale * rounding});
    }
  }

  std::unique_ptr<GroupKernel<T>> Learn(std::span<const double> theta) const override {
    return std::make_unique<FamilyKernel>(*this, theta);
  }

  // Tables of analytic shapes have the variable of the bound on all samples, also on a part of them.
  void MapBase() override {
    if (is_own_base_ && shape_.analyticity != nullptr && basis_.has_table())
      base_.MapTo(basis_.VariableOf(/*is_mapped=*/false));
  }

  void FindStatistics(Index count, const KernelStatistics& statistics, ThreadPool& pool) override {
    FindMeanDiagonals(statistics.mean_diagonals);
    if (statistics.mean_pairs.empty()) return;
    std::vector<double> totals = SumOverPairs<T>(
        base_, basis_.size(), pool, [&](const WeightedRows<T>& base, Index columns, T* block, Index stride) {
          basis_.AddMoments(base, columns, base_.is_mapped(), block, stride);
        });
    for (double& total : totals) total /= static_cast<double>(count) * static_cast<double>(count);
    WriteMembers(totals, /*factor_sum=*/1, statistics.mean_pairs);
  }

  std::unique_ptr<GroupExpansion> StartExpansion() override {
    return std::make_unique<FamilyExpansion<T>>(basis_, members_, base_);
  }

  // Expansions serve every question, and sum up float values in double. Where none is to be kept, double
  // values are used as they come, and quadratics alone need the pairs of nonzero entries only.
  void Answer(std::span<const VectorRequest> requests, std::span<GroupAnswer> answers,
              ThreadPool& pool) override {
    Asked expanded, measured;
    for (std::size_t v = 0; v < requests.size(); ++v) {
      const VectorRequest& request = requests[v];
      const bool needs_expansion =
          request.keeps_expansion || (std::is_same_v<T, float> && request.has_outputs());
      Asked& asked = needs_expansion ? expanded : measured;
      asked.requests.push_back(request);
      asked.answers.push_back(&answers[v]);
    }
    if (!expanded.requests.empty()) AnswerByExpansions(expanded, pool);
    if (!measured.requests.empty()) Measure(measured, pool);
  }

 private:
  struct Asked {
    std::vector<VectorRequest> requests;
    std::vector<GroupAnswer*> answers;
  };

  // The group's share of a learned kernel.
  class FamilyKernel final : public GroupKernel<T> {
   public:
    // No theta: zero.
    FamilyKernel(const FamilyGroup& group, std::span<const double> theta) : group_(group) {
      const FamilyBasis<T>& basis = group.basis_;
      std::vector<KernelParameters> active;
      for (std::size_t m = 0; m < group.members_.size(); ++m) {
        const double weight = theta.empty() ? 0 : theta[group.members_[m].kernel] * group.members_[m].scale;
        weights_.push_back(weight);
        if (weight == 0) continue;
        active.push_back(group.members_[m].parameters);
        active_weights_.push_back(static_cast<T>(weight));
        this->shift_ += weight * basis.shift();
      }
      active_ = MakeLoops<T>(group.shape_, active);
      if (!basis.has_table()) return;
      combined_ = basis.Combine(weights_);
      CutTail();
      coefficients_.assign(combined_.begin(), combined_.end());
    }

    bool is_zero() const { return active_weights_.empty(); }
    std::span<const double> weights() const { return weights_; }
    std::span<const double> combined() const { return combined_; }

    // Else the active members are evaluated one by one.
    bool UsesTable() const {
      const bool is_dearer = active_weights_.size() <= kDirectMembers &&
                             group_.evaluation_ != FamilyEvaluation::kTable && !group_.base_.is_mapped();
      return group_.basis_.has_table() && !is_dearer;
    }

    void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) const override {
      if (is_zero()) return;
      VisitPairs<T>(group_.base_, rows, {.may_evict = true}, pool, [&](const PairBlock<T>& pairs) {
        for (std::size_t r = 0; r < pairs.samples.size(); ++r) {
          AddRow(pairs.rows()[r], pairs.width(), out + (pairs.first + r) * stride + pairs.begin);
        }
      });
    }

    void AddRow(const T* base, Index count, T* out) const {
      if (UsesTable()) {
        AddChebyshev<T>(base, count, group_.basis_.VariableOf(group_.base_.is_mapped()), coefficients_, out);
      } else {
        active_->Add(base, count, active_weights_, out);
      }
    }

    void AddDiagonal(std::span<double> out, ThreadPool&) const override {
      if (is_zero()) return;
      const std::vector<double>& base = group_.LeftDiagonal();
      double value = 0;
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (i < base.size())
          value = base.size() > 1 && UsesTable() ? group_.basis_.TableValue(combined_, base[i])
                                                 : ValueAt(base[i]);
        out[i] += value;
      }
    }

   private:
    // Where narrow widths have little weight, the sum needs fewer terms than its members: those left out add
    // up to no more than a share of the error that the table has anyway, and what was asked for.
    void CutTail() {
      double allowed = 0;
      for (std::size_t m = 0; m < weights_.size(); ++m) {
        allowed += std::abs(weights_[m]) * group_.TailError(m);
      }
      while (combined_.size() > 1 && std::abs(combined_.back()) <= allowed) {
        allowed -= std::abs(combined_.back());
        combined_.pop_back();
      }
    }

    // At a base value, less what the rows leave out.
    double ValueAt(double base) const {
      double sum = 0;
      for (std::size_t m = 0; m < weights_.size(); ++m) {
        if (weights_[m] == 0) continue;
        sum += weights_[m] * group_.shape_.value(group_.members_[m].parameters, base);
      }
      return sum;
    }

    const FamilyGroup& group_;
    std::vector<double> weights_;             // theta * scale, by member
    std::unique_ptr<MemberLoops<T>> active_;  // members with a weight
    std::vector<T> active_weights_;
    std::vector<T> coefficients_;   // of the table, if there is one
    std::vector<double> combined_;  // the same, not rounded
  };

  // values[m] of the group's kernels from the sum of each function of the basis over pairs with factors,
  // whose sum is `factor_sum`.
  void WriteMembers(std::span<const double> totals, double factor_sum, std::span<double> values) const {
    for (std::size_t m = 0; m < members_.size(); ++m) {
      values[members_[m].kernel] =
          members_[m].scale * (basis_.Apply(m, totals) + basis_.shift() * factor_sum);
    }
  }

  void FindMeanDiagonals(std::span<double> means) const {
    const std::vector<double>& base = LeftDiagonal();
    if (base.size() > 1 && basis_.has_table()) {
      std::vector<double> sums(basis_.size(), 0.0);
      for (double value : base) {
        const std::vector<double> values = basis_.TableValues(value);
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += values[k] / static_cast<double>(base.size());
      }
      return WriteMembers(sums, 1, means);
    }
    for (const FamilyMember& member : members_) {
      double sum = 0;
      for (double value : base) sum += ShapeValue(shape_, member.parameters, value);
      means[member.kernel] = member.scale * sum / static_cast<double>(base.size());
    }
  }

  // What a member may add to the error of a learned kernel. Errors of a table are in proportion to the range
  // of its members: wide ones hardly vary, and are scaled up.
  double TailError(std::size_t m) const {
    return (kTailShare + learned_error_ / TableRelativeError<T>()) * basis_.Error(m);
  }

  void AnswerByExpansions(const Asked& asked, ThreadPool& pool) {
    std::vector<std::unique_ptr<FamilyExpansion<T>>> expansions;
    std::vector<FamilyExpansion<T>*> own;
    std::vector<std::span<const double>> vectors;
    for (const VectorRequest& request : asked.requests) {
      expansions.push_back(std::make_unique<FamilyExpansion<T>>(basis_, members_, base_));
      own.push_back(expansions.back().get());
      vectors.push_back(request.a);
    }
    FamilyExpansion<T>::AddTogether(vectors, own, pool);
    for (std::size_t v = 0; v < expansions.size(); ++v) {
      AnswerFrom(std::move(expansions[v]), asked.requests[v], *asked.answers[v]);
    }
  }

  void Measure(const Asked& asked, ThreadPool& pool) {
    if constexpr (std::is_same_v<T, double>) {
      const VectorRequest& first = asked.requests[0];
      const bool has_one_theta = std::ranges::all_of(asked.requests, [&](const VectorRequest& request) {
        return request.has_outputs() && std::ranges::equal(request.theta, first.theta);
      });
      // It takes rows and columns for the same samples, as those of who asks for quadratics are; new samples
      // of a prediction are others.
      const bool is_direct = shape_.is_exponential && !basis_.has_table() &&
                             members_.size() > kDirectMembers &&
                             std::ranges::all_of(asked.requests, &VectorRequest::wants_quadratics);
      if (is_direct && has_one_theta && asked.requests.size() <= kMostDirectVectors) {
        return MeasureExponentials(asked, pool);
      }
      // Worth it where values are read more than once, and what rough outputs need.
      const bool is_rough = std::ranges::any_of(
          asked.requests, [](const VectorRequest& request) { return request.rough_error > 0; });
      if ((asked.requests.size() > 1 && !has_one_theta) || is_rough) MapBase();
    }
    MeasureFromBasis(asked, pool);
  }

  // Every member at every pair, none kept. All have the same theta.
  void MeasureExponentials(const Asked& asked, ThreadPool& pool) requires std::is_same_v<T, double> {
    const FamilyKernel learned(*this, asked.requests[0].theta);
    std::vector<DirectVector> found;
    for (std::size_t v = 0; v < asked.requests.size(); ++v) {
      found.push_back({asked.requests[v].a, asked.answers[v]->outputs, {}});
    }
    std::vector<double> rates;
    for (const FamilyMember& member : members_) rates.push_back(shape_.analyticity->rate(member.parameters));
    MeasureDirectly(base_, rates, learned.weights(), found, pool);
    for (std::size_t v = 0; v < found.size(); ++v) Finish(asked, v, learned.shift(), found[v].quadratics);
  }

  // Vectors with the same theta follow each other.
  void MeasureFromBasis(const Asked& asked, ThreadPool& pool) {
    std::vector<MeasuredVector> found;
    std::vector<FamilyKernel> learned;
    for (std::size_t v = 0; v < asked.requests.size(); ++v) {
      const VectorRequest& request = asked.requests[v];
      if (v == 0 || !std::ranges::equal(request.theta, asked.requests[v - 1].theta)) {
        learned.emplace_back(*this, request.theta);
      }
      const std::size_t functions = request.wants_quadratics ? basis_.size() : 0;
      found.push_back({request.a, asked.answers[v]->outputs, std::vector<double>(functions, 0.0),
                       learned.size() - 1, request.precise_at});
      const bool has_terms = base_.is_mapped() && learned.back().UsesTable() && !learned.back().is_zero();
      if (request.rough_error > 0 && has_terms) {
        found.back().rough_terms = RoughTerms(learned.back().combined(), request.a, request.rough_error);
        if (!found.back().rough_terms.empty()) asked.answers[v]->rough_error += request.rough_error;
      }
    }
    MeasurePass(
        base_, std::span(found),
        [&](std::size_t number, const T* base, Index count, T* out) {
          if (!learned[number].is_zero()) learned[number].AddRow(base, count, out);
        },
        [this](const WeightedRows<T>& base, Index count, T* block, Index stride) {
          basis_.AddMoments(base, count, base_.is_mapped(), block, stride);
        })
        .Run(pool);
    for (std::size_t v = 0; v < found.size(); ++v) {
      Finish(asked, v, learned[found[v].learned].shift(), found[v].totals);
    }
  }

  // What the functions of the basis leave out, and the quadratics from their sums over pairs.
  void Finish(const Asked& asked, std::size_t v, double shift, std::span<const double> totals) const {
    const VectorRequest& request = asked.requests[v];
    const double sum = std::accumulate(request.a.begin(), request.a.end(), 0.0);
    if (shift != 0) {
      for (double& value : asked.answers[v]->outputs) value += shift * sum;
    }
    if (request.wants_quadratics) WriteMembers(totals, sum * sum, asked.answers[v]->quadratics);
  }

  // The base of every left sample with itself, or one value when all are the same (distances: a million
  // widths need one evaluation each).
  const std::vector<double>& LeftDiagonal() const {
    if (!diagonal_.empty()) return diagonal_;
    for (Index i = 0; i < base_.left_count(); ++i) diagonal_.push_back(base_.block().LeftDiagonal(i));
    if (std::ranges::all_of(diagonal_, [&](double value) { return value == diagonal_[0]; })) {
      diagonal_.resize(1);
    }
    return diagonal_;
  }

  const Shape& shape_;
  std::vector<FamilyMember> members_;
  BaseRows<T>& base_;
  const bool is_own_base_;
  FamilyEvaluation evaluation_;
  double learned_error_;
  FamilyBasis<T> basis_;
  mutable std::vector<double> diagonal_;  // found when first asked for
};

}  // namespace

template <class T>
std::unique_ptr<Group<T>> MakeFamilyGroup(const Shape& shape, std::vector<FamilyMember> members,
                                          BaseRows<T>& base, bool is_own_base, FamilyEvaluation evaluation,
                                          double learned_error) {
  return std::make_unique<FamilyGroup<T>>(shape, std::move(members), base, is_own_base, evaluation,
                                          learned_error);
}

template std::unique_ptr<Group<float>> MakeFamilyGroup(const Shape&, std::vector<FamilyMember>,
                                                       BaseRows<float>&, bool, FamilyEvaluation, double);
template std::unique_ptr<Group<double>> MakeFamilyGroup(const Shape&, std::vector<FamilyMember>,
                                                        BaseRows<double>&, bool, FamilyEvaluation, double);

}  // namespace kweave
