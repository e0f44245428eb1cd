#include "gram/single_group.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/cpu/family_loops.h"
#include "gram/pair_pass.h"
#include "gram/value_rounding.h"

namespace kweave {
namespace {

// Replaces the last `arguments` of the stacked rows of values by their product, sum or mean.
template <class T>
void Reduce(Composite::Operation operation, Index arguments, Index count, T* stack, Index& depth) {
  T* first = stack + (depth - arguments) * count;
  for (Index a = 1; a < arguments; ++a) {
    const T* other = first + a * count;
    for (Index j = 0; j < count; ++j) {
      first[j] = operation == Composite::Operation::kProduct ? first[j] * other[j] : first[j] + other[j];
    }
  }
  if (operation == Composite::Operation::kMean) {
    const T factor = T{1} / static_cast<T>(arguments);
    for (Index j = 0; j < count; ++j) first[j] *= factor;
  }
  depth -= arguments - 1;
}

template <class T>
void ApplyStepsToRow(std::span<const SampleStep> steps, Index left, Index begin, Index count, T* values) {
  for (const SampleStep& step : steps) {
    switch (step.kind) {
      case Normalizer::kTrace:
      case Normalizer::kMultiplicative:
        for (Index j = 0; j < count; ++j) values[j] *= static_cast<T>(step.constant);
        break;
      case Normalizer::kSpherical:
      case Normalizer::kPresence:
        for (Index j = 0; j < count; ++j)
          values[j] *= static_cast<T>(step.left[left] * step.right[begin + j]);
        break;
      case Normalizer::kCenter:
        for (Index j = 0; j < count; ++j)
          values[j] += static_cast<T>(step.constant - step.left[left] - step.right[begin + j]);
        break;
    }
  }
}

double Largest(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// What becomes of an error of kernel values; centring takes them from larger ones.
double RoundingAfter(std::span<const SampleStep> steps, double error) {
  for (const SampleStep& step : steps) {
    switch (step.kind) {
      case Normalizer::kTrace:
      case Normalizer::kMultiplicative:
        error *= std::abs(step.constant);
        break;
      case Normalizer::kSpherical:
      case Normalizer::kPresence:
        error *= Largest(step.left) * Largest(step.right);
        break;
      case Normalizer::kCenter:
        error = 4 * error + std::numeric_limits<double>::epsilon() *
                                (std::abs(step.constant) + Largest(step.left) + Largest(step.right));
        break;
    }
  }
  return error;
}

template <class T>
class SingleGroup final : public Group<T> {
 public:
  SingleGroup(SingleKernel kernel, std::vector<BaseRows<T>*> bases)
      : kernel_(std::move(kernel)), bases_(std::move(bases)) {
    double error = 0;
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const KernelTerm& term = kernel_.expression.terms[t];
      loops_.push_back(MakeLoops<T>(*term.kind->shape, {&term.parameters, 1}));
      error += RoundingOf(*term.kind->shape, term.parameters, bases_[t]->block());
    }
    error = kernel_.scale * RoundingAfter(kernel_.steps, error);
    if (error > 0) this->traits_.rounding_errors.push_back({static_cast<std::size_t>(kernel_.kernel), error});
  }

  std::unique_ptr<GroupKernel<T>> Learn(std::span<const double> theta) const override {
    return std::make_unique<WeightedSingle>(*this, theta[kernel_.kernel]);
  }

  void FindStatistics(Index count, const KernelStatistics& statistics, ThreadPool& pool) override {
    double sum = 0;
    for (Index i = 0; i < count; ++i) sum += LeftDiagonal(i);
    statistics.mean_diagonals[kernel_.kernel] = sum / static_cast<double>(count);
    if (statistics.mean_pairs.empty()) return;
    const SupportVector mean = MeanOf(count);
    Expand<T>(*this, mean, pool)->Quadratics(mean.factors, statistics.mean_pairs);
  }

  std::unique_ptr<GroupExpansion> StartExpansion() override {
    return std::make_unique<SingleExpansion>(*this);
  }

 private:
  class WeightedSingle final : public GroupKernel<T> {
   public:
    WeightedSingle(const SingleGroup& group, double weight) : group_(group), weight_(weight) {}

    void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) const override {
      if (weight_ == 0) return;
      group_.ForValues(rows, pool, /*may_evict=*/true,
                       [&](std::size_t r, const T* values, Index begin, Index count) {
                         AddScaled<T>(values, count, static_cast<T>(weight_), out + r * stride + begin);
                       });
    }
    void AddDiagonal(std::span<double> out, ThreadPool&) const override {
      if (weight_ == 0) return;
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] += weight_ * group_.LeftDiagonal(static_cast<Index>(i));
    }

   private:
    const SingleGroup& group_;
    const double weight_;
  };

  class SingleExpansion : public GroupExpansion {
   public:
    explicit SingleExpansion(SingleGroup& group)
        : group_(group), moments_(1, group.bases_[0]->right_count()) {}

    void Add(const SupportVector& entries, ThreadPool& pool) override {
      group_.ForValues(entries.rows, pool, /*may_evict=*/false,
                       [&](std::size_t r, const T* values, Index begin, Index count) {
                         double* sums = moments_.values.data() + begin;
                         const double factor = entries.factors[r];
                         for (Index j = 0; j < count; ++j) sums[j] += factor * static_cast<double>(values[j]);
                       });
    }
    void Quadratics(std::span<const double> a, std::span<double> q) const override { Products(a, q); }
    void Products(std::span<const double> b, std::span<double> products) const override {
      products[group_.kernel_.kernel] = Dot(b, moments_.row(0));
    }
    void AddOutputs(std::span<const double> theta, std::span<double> out) const override {
      const double weight = theta[group_.kernel_.kernel];
      if (weight == 0) return;
      AddScaled<double>(moments_.row(0).data(), static_cast<Index>(out.size()), weight, out.data());
    }

   private:
    SingleGroup& group_;
    Moments moments_;
  };

  double LeftDiagonal(Index i) const {
    std::vector<double> terms(bases_.size());
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const KernelTerm& term = kernel_.expression.terms[t];
      terms[t] = ShapeValue(*term.kind->shape, term.parameters, bases_[t]->block().LeftDiagonal(i));
    }
    return ApplySteps(kernel_.steps, i, i, kernel_.scale * EvaluateExpression(kernel_.expression, terms));
  }

  // out = the values of term t at `base`.
  void TermValues(std::int32_t t, const T* base, Index count, T* out) const {
    loops_[t]->Values(0, base, count, out);
    const auto shift = static_cast<T>(kernel_.expression.terms[t].kind->shape->shift);
    if (shift == 0) return;
    for (Index j = 0; j < count; ++j) out[j] += shift;
  }

  // Calls use(position in rows, kernel values, first column, columns), row after row within a block of
  // columns.
  template <class Use>
  void ForValues(std::span<const Index> rows, ThreadPool& pool, bool may_evict, Use use) const {
    VisitPairs<T>(bases_, rows, {.may_evict = may_evict}, pool, [&](const PairBlock<T>& pairs) {
      thread_local AlignedVector<T> stack;
      stack.resize(std::max<std::size_t>(stack.size(), bases_.size() * pairs.width()));
      for (std::size_t r = 0; r < pairs.samples.size(); ++r) {
        FillValues(pairs, r, stack.data());
        use(pairs.first + r, stack.data(), pairs.begin, pairs.width());
      }
    });
  }

  // The kernel's values of one row, at the front of `stack`, which has room for a row of every term.
  void FillValues(const PairBlock<T>& pairs, std::size_t r, T* stack) const {
    const Index count = pairs.width();
    Index depth = 0;
    for (const Composite::Node& node : kernel_.expression.nodes) {
      if (node.operation == Composite::Operation::kTerm) {
        TermValues(node.argument, pairs.bases[node.argument][r], count, stack + depth++ * count);
      } else {
        Reduce(node.operation, node.argument, count, stack, depth);
      }
    }
    if (kernel_.scale != 1) {
      for (Index j = 0; j < count; ++j) stack[j] *= static_cast<T>(kernel_.scale);
    }
    ApplyStepsToRow(kernel_.steps, pairs.samples[r], pairs.begin, count, stack);
  }

  SingleKernel kernel_;
  std::vector<BaseRows<T>*> bases_;
  std::vector<std::unique_ptr<MemberLoops<T>>> loops_;  // of every term
};

}  // namespace

double EvaluateExpression(const Composite& expression, std::span<const double> term_values) {
  std::vector<double> stack(expression.terms.size());
  Index depth = 0;
  for (const Composite::Node& node : expression.nodes) {
    if (node.operation == Composite::Operation::kTerm) {
      stack[depth++] = term_values[node.argument];
    } else {
      Reduce(node.operation, node.argument, 1, stack.data(), depth);
    }
  }
  return stack[0];
}

double ApplySteps(std::span<const SampleStep> steps, Index left, Index right, double value) {
  for (const SampleStep& step : steps) {
    if (step.kind == Normalizer::kSpherical || step.kind == Normalizer::kPresence) {
      value *= step.left[left] * step.right[right];
    } else if (step.kind == Normalizer::kCenter) {
      value += step.constant - step.left[left] - step.right[right];
    } else {
      value *= step.constant;
    }
  }
  return value;
}

template <class T>
std::unique_ptr<Group<T>> MakeSingleGroup(SingleKernel kernel, std::vector<BaseRows<T>*> bases) {
  return std::make_unique<SingleGroup<T>>(std::move(kernel), std::move(bases));
}

template std::unique_ptr<Group<float>> MakeSingleGroup(SingleKernel, std::vector<BaseRows<float>*>);
template std::unique_ptr<Group<double>> MakeSingleGroup(SingleKernel, std::vector<BaseRows<double>*>);

}  // namespace kweave
