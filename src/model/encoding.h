// What a model file holds, as JSON with binary arrays; docs/dev/model-format.md describes it for people.
#ifndef KWEAVE_MODEL_ENCODING_H_
#define KWEAVE_MODEL_ENCODING_H_

#include "model/content.h"
#include "model/json.h"

namespace kweave {

Json EncodeModel(const ModelContent& content);

/// Throws Error(kData) when anything is missing, of the wrong type or inconsistent.
ModelContent DecodeModel(const Json& json);

}  // namespace kweave

#endif  // KWEAVE_MODEL_ENCODING_H_
