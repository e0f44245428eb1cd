#ifndef KWEAVE_TRAIN_FORECAST_H_
#define KWEAVE_TRAIN_FORECAST_H_

#include "kweave/context.h"
#include "kweave/options.h"
#include "train/prepared.h"

namespace kweave {

/// Throws Error(kResource), with the amount needed, where training cannot do with Context::memory_bytes.
void RequireMemory(const PreparedSamples& samples, const TrainOptions& options, const Context& context);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_FORECAST_H_
