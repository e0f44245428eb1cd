#ifndef KWEAVE_MODEL_JSON_H_
#define KWEAVE_MODEL_JSON_H_

#include <nlohmann/json.hpp>

namespace kweave {

/// JSON whose objects keep the order in which their members were written.
using Json = nlohmann::ordered_json;

}  // namespace kweave

#endif  // KWEAVE_MODEL_JSON_H_
