#ifndef KWEAVE_TRAIN_PREPARED_H_
#define KWEAVE_TRAIN_PREPARED_H_

#include <vector>

#include "base/run_control.h"
#include "base/threads.h"
#include "gram/normalization.h"
#include "kernel/kernel_set.h"
#include "kweave/dataset.h"
#include "kweave/options.h"
#include "model/feature_transform.h"
#include "train/labels.h"
#include "train/pair_kernels.h"

namespace kweave {

/// The samples that count, with their labels and bounds.
struct PreparedSamples {
  std::vector<Index> indices;                ///< in the data, ascending: those with a weight above 0
  Index data_count = 0;                      ///< samples in the data, those without a weight included
  Numbering numbering;                       ///< of these samples, in messages
  std::vector<View> views;                   ///< of these samples, their features as kernels see them
  std::vector<FeatureTransform> transforms;  ///< that made them so, one per view; or none
  View confounds;                            ///< of these samples; no features: none
  std::vector<GramMatrix> matrices;
  std::vector<bool> is_kept;  ///< stored in the model whatever its factor; empty: none
  std::vector<std::string>
      classes;         ///< of a classification, two or more; of a one-class machine: outlier, inlier
  ClassLabels labels;  ///< of a classification
  /// -1 or +1 for the second of two classes, a regression's targets, or 1 for one class, whatever the labels.
  /// Empty where there are several machines.
  std::vector<double> y;
  std::vector<double> upper;  ///< C_i
};

/// Throws Error(kData) on labels that the task cannot use, Error(kUsage) on weights that fit no sample.
PreparedSamples PrepareSamples(const Dataset& data, const TrainOptions& options);

/// The kernels, parsed, checked and normalised on the training samples.
struct PreparedKernels {
  std::vector<std::string> specifications;  ///< that make the kernels, those on groups of features included
  std::vector<std::string> names;           ///< of all kernels, in the order given
  std::vector<Index>
      kept;           ///< those that vary over the samples and do not overflow; the others keep weight 0
  KernelSet kernels;  ///< the kept ones
  Normalization normalization;  ///< of the kept ones
  std::vector<View> views;      ///< those of kernels.views, in that order
  PairKernels pairs;            ///< kernels on pairs of sample and class; none but for joint machines
};

/// Says once which kernels were left out and which matrices are indefinite. Throws Error(kResource) when
/// asked to stop, Error(kUsage) on kernels on pairs of sample and class where no joint machine is learned.
PreparedKernels PrepareKernels(const PreparedSamples& samples, const TrainOptions& options,
                               std::uint64_t seed, ThreadPool& pool, RunControl& control);

/// The views that `kernels` names, in its order.
std::vector<View> ViewsOf(const KernelSet& kernels, std::span<const View> views);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_PREPARED_H_
