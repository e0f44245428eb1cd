#ifndef KWEAVE_MODEL_BLOB_H_
#define KWEAVE_MODEL_BLOB_H_

#include <bit>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "kweave/error.h"
#include "model/json.h"

namespace kweave {

static_assert(std::endian::native == std::endian::little, "model files hold little-endian arrays");

/// Numbers as one binary JSON value.
template <class T>
Json ToBlob(std::span<const T> values) {
  static_assert(std::is_arithmetic_v<T>);
  std::vector<std::uint8_t> bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return Json::binary(std::move(bytes));
}

template <class T>
Json ToBlob(const std::vector<T>& values) {
  return ToBlob(std::span<const T>(values));
}

/// The inverse. Throws Error(kData) when the bytes do not fill whole values of type T.
template <class T>
std::vector<T> FromBlob(const Json& blob) {
  const auto& bytes = blob.get_binary();
  if (bytes.size() % sizeof(T) != 0)
    throw Error(ErrorKind::kData, "the model is damaged: an array is cut off");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace kweave

#endif  // KWEAVE_MODEL_BLOB_H_
