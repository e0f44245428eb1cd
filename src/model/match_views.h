#ifndef KWEAVE_MODEL_MATCH_VIEWS_H_
#define KWEAVE_MODEL_MATCH_VIEWS_H_

#include <vector>

#include "kweave/dataset.h"
#include "model/content.h"

namespace kweave {

/// The views of the model's kernels, in their order, found in the data by name; a model trained on one view
/// takes the only one there is. Features are matched by name where both sides have names, else by position;
/// others are left out. Throws Error(kData) when a view or a feature is missing.
std::vector<View> MatchViews(const ModelContent& content, const Dataset& data);

/// Tells the readers what MatchViews will need of each view.
void ExpectViews(const ModelContent& content, ReadOptions& options);

}  // namespace kweave

#endif  // KWEAVE_MODEL_MATCH_VIEWS_H_
