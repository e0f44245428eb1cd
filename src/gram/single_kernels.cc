#include "gram/single_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kweave {

template <class T>
SingleKernels<T>::SingleKernels(const KernelSet& kernels, const Sides& sides, BaseStore<T>& bases,
                                ThreadPool& pool)
    : kernels_(kernels),
      bases_(bases),
      pool_(pool),
      right_(sides.right),
      is_training_(sides.is_training),
      left_count_(sides.left_count()),
      right_count_(sides.right_count()) {}

template <class T>
std::unique_ptr<Group<T>> SingleKernels<T>::Make(Index m, double scale, std::vector<SampleStep> steps) {
  SingleKernel kernel{m, kernels_.Expression(m), scale, std::move(steps)};
  std::vector<BaseRows<T>*> bases;
  for (const KernelTerm& term : kernel.expression.terms) bases.push_back(&bases_.Of(term));
  return MakeSingleGroup<T>(std::move(kernel), std::move(bases));
}

template <class T>
std::vector<double> SingleKernels<T>::RawDiagonal(Index m, bool of_right) {
  const Composite expression = kernels_.Expression(m);
  std::vector<double> diagonal(of_right ? right_count_ : left_count_), terms(expression.terms.size());
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const KernelTerm& term = expression.terms[t];
      const BaseBlock<T>& block = bases_.Of(term).block();
      const double base = of_right ? block.RightDiagonal(i) : block.LeftDiagonal(i);
      terms[t] = ShapeValue(*term.kind->shape, term.parameters, base);
    }
    diagonal[i] = EvaluateExpression(expression, terms);
  }
  return diagonal;
}

template <class T>
std::vector<SampleStep> SingleKernels<T>::CompleteSteps(Index m, std::span<const FittedStep> fitted) {
  const auto presence = std::ranges::find(fitted, Normalizer::kPresence, &FittedStep::kind);
  const SupportVector known =
      presence == fitted.end() ? MeanOf(left_count_) : MeanOfPresent(presence->per_sample);
  std::vector<SampleStep> steps;
  std::vector<double> diagonal;
  for (const FittedStep& step : fitted) {
    SampleStep complete{step.kind, step.constant, step.per_sample, step.per_sample};
    if (!is_training_) {
      if (diagonal.empty()) diagonal = RawDiagonal(m, /*of_right=*/true);
      if (step.kind == Normalizer::kSpherical) {
        complete.right.resize(right_count_);
        for (Index j = 0; j < right_count_; ++j) {
          complete.right[j] = diagonal[j] > 0 ? 1 / std::sqrt(diagonal[j]) : 0;
          diagonal[j] = diagonal[j] > 0 ? 1 : 0;
        }
      } else if (step.kind == Normalizer::kCenter) {
        std::vector<double> theta(kernels_.size(), 0.0);
        theta[m] = 1;
        complete.right.assign(right_count_, 0.0);
        const std::unique_ptr<Group<T>> single = Make(m, 1, steps);
        Expand(*single, known, pool_)->AddOutputs(theta, complete.right);
        for (Index j = 0; j < right_count_; ++j) diagonal[j] += step.constant - 2 * complete.right[j];
      } else if (step.kind == Normalizer::kPresence) {
        complete.right = PresenceIn(kernels_, m, right_);
        if (complete.right.empty()) complete.right.assign(right_count_, 1.0);
      } else {
        for (double& value : diagonal) value *= step.constant;
      }
    }
    steps.push_back(std::move(complete));
  }
  return steps;
}

template class SingleKernels<float>;
template class SingleKernels<double>;

}  // namespace kweave
