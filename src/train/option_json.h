#ifndef KWEAVE_TRAIN_OPTION_JSON_H_
#define KWEAVE_TRAIN_OPTION_JSON_H_

#include "kweave/options.h"
#include "model/json.h"

namespace kweave {

/// What OptionsToJson writes, as an object.
Json OptionsJson(const TrainOptions& options);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_OPTION_JSON_H_
