#ifndef KWEAVE_GRAM_SINGLE_KERNELS_H_
#define KWEAVE_GRAM_SINGLE_KERNELS_H_

#include <memory>
#include <span>
#include <vector>

#include "base/threads.h"
#include "gram/base_store.h"
#include "gram/group.h"
#include "gram/normalization.h"
#include "gram/single_group.h"
#include "kernel/kernel_set.h"

namespace kweave {

/// Makes groups of kernels that stand alone (gram/single_group.h) out of the bases of a Gram. T: float or
/// double.
template <class T>
class SingleKernels {
 public:
  /// All but `sides` itself must outlive it.
  SingleKernels(const KernelSet& kernels, const Sides& sides, BaseStore<T>& bases, ThreadPool& pool);

  /// Kernel m with the given steps. The bases must outlive it.
  std::unique_ptr<Group<T>> Make(Index m, double scale, std::vector<SampleStep> steps);
  /// k_m(x,x) of every left (or right) sample, before normalisation.
  std::vector<double> RawDiagonal(Index m, bool of_right);
  /// Gives every step its value for the right samples: those of training are fitted, those of new samples
  /// follow from their own k(x,x), from the views they have and, for kCenter, from their mean over the
  /// training samples that have the views of the kernel.
  std::vector<SampleStep> CompleteSteps(Index m, std::span<const FittedStep> fitted);

 private:
  const KernelSet& kernels_;
  BaseStore<T>& bases_;
  ThreadPool& pool_;
  std::span<const View> right_;
  bool is_training_;
  Index left_count_;
  Index right_count_;
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_SINGLE_KERNELS_H_
