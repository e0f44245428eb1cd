#ifndef KWEAVE_GRAM_NORMALIZATION_H_
#define KWEAVE_GRAM_NORMALIZATION_H_

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/threads.h"
#include "kernel/kernel_set.h"
#include "kernel/normalizer.h"
#include "kweave/dataset.h"

namespace kweave {

/// Below this share of the mean of k(x,x) a variance is rounding.
inline constexpr double kNoVariance = 1e-12;

/// One fitted step of a kernel whose normalisation is not a single factor.
struct FittedStep {
  Normalizer kind = Normalizer::kTrace;
  double constant = 1;  ///< the factor, or the mean over all pairs (kCenter)
  /// Of the samples it was fitted on: 1/sqrt k(x,x) (kSpherical), mean k(x,.) (kCenter), View::presence
  /// (kPresence).
  std::vector<double> per_sample;
};

/// The fitted normalisation of every kernel. Kernels that need only a factor (nearly all) have only a factor.
struct Normalization {
  std::vector<Normalizer> sequence;
  std::vector<double>
      scale;  ///< one per kernel; left out are kernels with 0, no variance, and NaN, an overflow
  std::unordered_map<Index, std::vector<FittedStep>> chains;  ///< kernels that need more; their scale is 1

  /// True when new samples need their mean kernel value over all training samples (kCenter).
  bool NeedsAllTrainingSamples() const;
  /// True when samples lack a view of a kernel (kPresence).
  bool KnowsMissingSamples() const;
  /// For the kernels in `kept` and the samples in `samples` (of those it was fitted on).
  Normalization Select(std::span<const Index> kept, std::span<const Index> samples) const;
};

/// Of the samples of `views`, those of KernelSet::views, in kernel m: 0 where a view of it is missing, else
/// their View::presence. Empty: all have all views.
std::vector<double> PresenceIn(const KernelSet& kernels, Index m, std::span<const View> views);

/// Fits on training data. Kernels on a view that samples lack are centred after all other steps and zero for
/// these samples, which are no part of any statistic: they are where the mean of the others is in feature
/// space, and the matrix is positive semidefinite, as it is D H K H D with a projection H and a diagonal D.
/// `views` are those of KernelSet::views, in that order. `seed` draws the samples that
/// variances of very many samples are taken from.
Normalization FitNormalization(const KernelSet& kernels, std::span<const View> views,
                               std::span<const Normalizer> sequence, ThreadPool& pool,
                               std::uint64_t seed = 0);

/// Tells which kernels will need more than a factor, and all factors are 1.
Normalization UnfittedNormalization(const KernelSet& kernels, std::span<const View> views,
                                    std::span<const Normalizer> sequence);

}  // namespace kweave

#endif  // KWEAVE_GRAM_NORMALIZATION_H_
