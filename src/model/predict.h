#ifndef KWEAVE_MODEL_PREDICT_H_
#define KWEAVE_MODEL_PREDICT_H_

#include <vector>

#include "kweave/model.h"
#include "model/content.h"

namespace kweave {

/// f(x) with bias for every sample of `data`, in float64, a block of samples at a time within the context's
/// memory. Throws Error(kData) when a view or a matrix the model needs is missing or has the wrong shape.
std::vector<double> Decide(const ModelContent& content, const Dataset& data, const PredictOptions& options,
                           const Context& context);

}  // namespace kweave

#endif  // KWEAVE_MODEL_PREDICT_H_
