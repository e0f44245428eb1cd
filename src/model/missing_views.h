// New samples that lack views which all samples of training had.
#ifndef KWEAVE_MODEL_MISSING_VIEWS_H_
#define KWEAVE_MODEL_MISSING_VIEWS_H_

#include <span>
#include <vector>

#include "model/content.h"

namespace kweave {

/// Samples that lack the same views, and a model that does without the kernels on these: they have no weight,
/// and what they add on average is part of the biases.
struct MissingPattern {
  std::vector<Index> samples;    ///< positions, ascending
  std::vector<bool> is_missing;  ///< by kernel
  ModelContent content;
};

/// Splits `count` new samples by the views that they lack. Kernels whose normalisation knows such samples are
/// left as they are. Nothing where no other kernel is concerned. Throws Error(kData) where the model does not
/// know what a kernel adds on average.
std::vector<MissingPattern> SplitByMissing(const ModelContent& content, std::span<const View> views,
                                           Index count);

/// Finds ModelMachine::mean_parts of a model with several views: over `samples` of training, by
/// DecideByKernel. Leaves a model as it is whose kernels all know samples without their view, or have no
/// views.
void FindMeanParts(const std::vector<View>& samples, Index count, const Context& context,
                   ModelContent& content);

}  // namespace kweave

#endif  // KWEAVE_MODEL_MISSING_VIEWS_H_
