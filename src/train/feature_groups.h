// Kernels on groups of features: gene sets, brain regions, blocks of a questionnaire.
#ifndef KWEAVE_TRAIN_FEATURE_GROUPS_H_
#define KWEAVE_TRAIN_FEATURE_GROUPS_H_

#include <span>
#include <string>
#include <vector>

#include "kweave/dataset.h"
#include "kweave/options.h"

namespace kweave {

/// Specifications of kernels, and what should be said of the groups.
struct GroupedKernels {
  std::vector<std::string> kernels;
  std::string note;  ///< of features and groups that no view knows; empty: nothing
};

/// The kernels asked for, or the default ones; with TrainOptions::feature_groups every specification without
/// a view once for every group, on its features of each view that has any of them, under a name with that of
/// the group. Throws Error(kUsage, kData) on a file that holds no groups, on groups of which no view has a
/// feature, and on specifications with a name of their own.
GroupedKernels KernelsOnGroups(const TrainOptions& options, std::span<const View> views);

/// KernelsOnGroups without the note.
std::vector<std::string> EffectiveKernels(const TrainOptions& options, std::span<const View> views);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_FEATURE_GROUPS_H_
