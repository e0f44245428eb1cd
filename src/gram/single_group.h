#ifndef KWEAVE_GRAM_SINGLE_GROUP_H_
#define KWEAVE_GRAM_SINGLE_GROUP_H_

#include <memory>
#include <span>
#include <vector>

#include "gram/base_rows.h"
#include "gram/group.h"
#include "kernel/kernel_set.h"
#include "kernel/normalizer.h"

namespace kweave {

/// A fitted step with its value for every left and every right sample.
struct SampleStep {
  Normalizer kind = Normalizer::kTrace;
  double constant = 1;
  std::vector<double> left;
  std::vector<double> right;
};

/// One kernel by itself: built from others, or normalised by more than a factor.
struct SingleKernel {
  Index kernel = 0;
  Composite expression;  ///< of one term for a kernel that is not built from others
  double scale = 1;
  std::vector<SampleStep> steps;
};

/// The value of an expression from the value of each of its terms.
double EvaluateExpression(const Composite& expression, std::span<const double> term_values);
/// k(x,z) after the steps.
double ApplySteps(std::span<const SampleStep> steps, Index left, Index right, double value);

/// `bases[t]` is the base of term t; they must outlive the group.
template <class T>
std::unique_ptr<Group<T>> MakeSingleGroup(SingleKernel kernel, std::vector<BaseRows<T>*> bases);

}  // namespace kweave

#endif  // KWEAVE_GRAM_SINGLE_GROUP_H_
