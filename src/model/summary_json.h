#ifndef KWEAVE_MODEL_SUMMARY_JSON_H_
#define KWEAVE_MODEL_SUMMARY_JSON_H_

#include "kweave/summary.h"
#include "model/json.h"

namespace kweave {

/// The summary as the command line writes it and the model file keeps it.
Json ToJson(const Summary& summary);

/// The inverse. Throws Error(kData) when a member is missing or of the wrong type.
Summary SummaryFromJson(const Json& json);

}  // namespace kweave

#endif  // KWEAVE_MODEL_SUMMARY_JSON_H_
