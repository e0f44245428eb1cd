// The container of a model: magic bytes, format version, checksum, payload.
#ifndef KWEAVE_MODEL_FILE_H_
#define KWEAVE_MODEL_FILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/content.h"

namespace kweave {

/// The newest format this version knows; it reads this one and all before it.
inline constexpr std::uint32_t kModelFormatVersion = 6;

/// The format a model is written in: the oldest that can hold it, so that earlier versions read it where they
/// can. 1: two classes; 2: every task; 3: several machines; 4: kernels on pairs of sample and class; 5: the
/// problem that it solves; 6: sequences, samples without some view, or features that are changed before
/// kernels see them.
std::uint32_t FormatOf(const ModelContent& content);

/// A whole model file as bytes.
std::vector<std::uint8_t> SerializeModel(const ModelContent& content);

/// The inverse. Throws Error(kData) on anything that SerializeModel did not write, whatever the bytes are.
ModelContent DeserializeModel(std::span<const std::uint8_t> bytes);

}  // namespace kweave

#endif  // KWEAVE_MODEL_FILE_H_
