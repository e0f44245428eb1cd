#include "gram/single_group.h"

#include <algorithm>

#include "compute/cpu/family_loops.h"
#include "gram/pair_pass.h"

namespace kweave {
namespace {

// out = the term's kernel values at `base`.
template <class T>
void TermValues(const KernelTerm& term, const T* base, Index count, T* out) {
  const KernelParameters& p = term.parameters;
  std::fill_n(out, count, term.kind->shape == Shape::kExponential ? T{1} : T{0});
  const T one[] = {T{1}};
  if (term.kind->shape == Shape::kExponential) {
    const T gamma[] = {static_cast<T>(p.gamma)};
    AddExponentials<T>(base, count, gamma, one, out);
  } else if (term.kind->shape == Shape::kPower) {
    const PowerTerm<T> power[] = {
        {static_cast<T>(p.gamma), static_cast<T>(p.coef0), static_cast<int>(p.degree)}};
    AddPowers<T>(base, count, power, one, out);
  } else {
    std::copy_n(base, count, out);
  }
}

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

template <class T>
class SingleGroup : public Group<T> {
 public:
  SingleGroup(SingleKernel kernel, std::vector<BaseRows<T>*> bases)
      : kernel_(std::move(kernel)), bases_(std::move(bases)) {}

  void SetWeights(std::span<const double> theta) override { weight_ = theta[kernel_.kernel]; }
  double RowShift(std::span<const double>) const override { return 0; }

  void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) override {
    if (weight_ == 0) return;
    ForValues(rows, pool, /*may_evict=*/true, [&](std::size_t r, const T* values, Index begin, Index count) {
      AddScaled<T>(values, count, static_cast<T>(weight_), out + r * stride + begin);
    });
  }

  void AddDiagonal(std::span<double> out) const override {
    if (weight_ == 0) return;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += weight_ * LeftDiagonal(static_cast<Index>(i));
  }

  void MeanDiagonals(Index left_count, std::span<double> means) const override {
    double sum = 0;
    for (Index i = 0; i < left_count; ++i) sum += LeftDiagonal(i);
    means[kernel_.kernel] = sum / static_cast<double>(left_count);
  }

  void MeansOfAllPairs(Index count, std::span<double> means, ThreadPool& pool) override {
    const SupportVector mean = MeanOf(count);
    Expand<T>(*this, mean, pool)->Quadratics(mean.factors, means);
  }

  std::unique_ptr<GroupExpansion> StartExpansion() override {
    return std::make_unique<SingleExpansion>(*this);
  }

 private:
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
      terms[t] = ShapeValue(term.kind->shape, term.parameters, bases_[t]->block().LeftDiagonal(i));
    }
    return ApplySteps(kernel_.steps, i, i, kernel_.scale * EvaluateExpression(kernel_.expression, terms));
  }

  // Calls use(position in rows, kernel values, first column, columns), row after row within a block of
  // columns.
  template <class Use>
  void ForValues(std::span<const Index> rows, ThreadPool& pool, bool may_evict, Use use) {
    for (std::size_t first = 0; first < rows.size(); first += kRowBatch) {
      const auto some = rows.subspan(first, std::min<std::size_t>(kRowBatch, rows.size() - first));
      std::vector<typename BaseRows<T>::Batch> batches;
      for (BaseRows<T>* base : bases_) batches.push_back(base->Prepare(some, may_evict));
      pool.ParallelFor(bases_[0]->right_count(), kColumnBlock, [&](Index begin, Index end, int) {
        BlockValues(batches, some, begin, end,
                    [&](std::size_t r, const T* values) { use(first + r, values, begin, end - begin); });
      });
      for (std::size_t t = 0; t < bases_.size(); ++t) bases_[t]->Commit(batches[t]);
    }
  }

  template <class Use>
  void BlockValues(std::span<const typename BaseRows<T>::Batch> batches, std::span<const Index> rows,
                   Index begin, Index end, Use use) const {
    const Index count = end - begin, terms = static_cast<Index>(bases_.size());
    AlignedVector<T> scratch(rows.size() * count * terms), stack(terms * count);
    std::vector<std::vector<const T*>> pointers(terms);
    for (Index t = 0; t < terms; ++t) {
      bases_[t]->Read(batches[t], begin, end, scratch.data() + t * rows.size() * count, pointers[t]);
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Index depth = 0;
      for (const Composite::Node& node : kernel_.expression.nodes) {
        if (node.operation == Composite::Operation::kTerm) {
          TermValues(kernel_.expression.terms[node.argument], pointers[node.argument][r], count,
                     stack.data() + depth++ * count);
        } else {
          Reduce(node.operation, node.argument, count, stack.data(), depth);
        }
      }
      if (kernel_.scale != 1) {
        for (Index j = 0; j < count; ++j) stack[j] *= static_cast<T>(kernel_.scale);
      }
      ApplyStepsToRow(kernel_.steps, rows[r], begin, count, stack.data());
      use(r, stack.data());
    }
  }

  SingleKernel kernel_;
  std::vector<BaseRows<T>*> bases_;
  double weight_ = 0;
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
    if (step.kind == Normalizer::kSpherical) {
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
