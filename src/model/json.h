#ifndef KWEAVE_MODEL_JSON_H_
#define KWEAVE_MODEL_JSON_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "kweave/error.h"

namespace kweave {

/// JSON whose objects keep the order in which their members were written.
using Json = nlohmann::ordered_json;

/// Throws Error(kData) unless it is a whole number that a T can hold: the library converts fractions, too,
/// and large ones without a defined result.
template <class T>
T WholeNumber(const Json& json) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<T>(json.get<std::uint64_t>())
                        : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
  if (!fits) throw Error(ErrorKind::kData, "something else stands where a whole number should");
  return json.get<T>();
}

}  // namespace kweave

#endif  // KWEAVE_MODEL_JSON_H_
