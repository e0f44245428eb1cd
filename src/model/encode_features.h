#ifndef KWEAVE_MODEL_ENCODE_FEATURES_H_
#define KWEAVE_MODEL_ENCODE_FEATURES_H_

#include "kweave/dataset.h"
#include "model/json.h"

namespace kweave {

Json EncodeFeatures(const Features& features);

/// Throws Error(kData) unless the arrays fit the declared shape and every index lies inside it.
Features DecodeFeatures(const Json& json);

}  // namespace kweave

#endif  // KWEAVE_MODEL_ENCODE_FEATURES_H_
