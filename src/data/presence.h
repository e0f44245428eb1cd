#ifndef KWEAVE_DATA_PRESENCE_H_
#define KWEAVE_DATA_PRESENCE_H_

#include <span>
#include <vector>

#include "kweave/dataset.h"

namespace kweave {

/// Whether a sample lacks one of the views.
bool LacksViews(std::span<const View> views);

/// Sets View::presence in every view as MissingViews::kRescale has it: of a sample that has a of all V views
/// sqrt(V / a) in these, so that the squared distance from the means of all views is about as large as with
/// all of them. `count`: samples.
void RescalePresence(std::vector<View>& views, Index count);

}  // namespace kweave

#endif  // KWEAVE_DATA_PRESENCE_H_
