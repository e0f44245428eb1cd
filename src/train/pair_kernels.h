// Kernels on pairs of sample and class that are given as matrices, `joint(file=FILE)` in the kernel language.
#ifndef KWEAVE_TRAIN_PAIR_KERNELS_H_
#define KWEAVE_TRAIN_PAIR_KERNELS_H_

#include <span>
#include <vector>

#include "base/threads.h"
#include "gram/normalization.h"
#include "kernel/kernel_set.h"
#include "kweave/dataset.h"

namespace kweave {

/// Kernels among n m pairs, which are the samples that a Gram of them sees: class after class, entry u n + i.
struct PairKernels {
  KernelSet kernels;
  std::vector<Index> kept;      ///< their positions among all kernels of the run
  Normalization normalization;  ///< factors only
  std::vector<View> views;      ///< one without features

  bool empty() const { return kept.empty(); }
};

/// The positions of the kernels on pairs. Throws Error(kUsage) where one is a part of another kernel.
std::vector<Index> FindPairKernels(const KernelSet& kernels);

/// Makes kernels on pairs ready that are at `positions` among all kernels. Their matrices, n m x n m and
/// finite, hold pair (i, u) at row and column i m + u. Factors of the normalisation make the mean of k over
/// pairs with themselves 1 (trace), or what is left of it without the mean over samples within each class
/// (multiplicative): those of a product with a kernel on the classes that is 1 on its diagonal are the
/// factors of its kernel on samples. A scale of 0 or NaN means what it means in Normalization. Throws
/// Error(kUsage) on other normalisations.
PairKernels PreparePairKernels(KernelSet kernels, std::span<const Index> positions, Index samples,
                               Index classes, std::span<const Normalizer> normalizers);

/// Only those of the kernels in `kept`, numbers within `pairs`, ascending.
PairKernels SelectPairKernels(const PairKernels& pairs, std::span<const Index> kept);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_PAIR_KERNELS_H_
