#ifndef KWEAVE_TESTS_SUPPORT_USE_MODEL_H_
#define KWEAVE_TESTS_SUPPORT_USE_MODEL_H_

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "kweave/error.h"
#include "kweave/model.h"
#include "model/content.h"
#include "model/file.h"

namespace kweave {

constexpr std::size_t kModelHeaderBytes = 24;

/// The bytes of a model file, those of its header replaced by a header that fits what follows them.
inline std::vector<std::uint8_t> Sealed(std::vector<std::uint8_t> bytes) {
  if (bytes.size() < kModelHeaderBytes) return bytes;
  const std::uint64_t payload = bytes.size() - kModelHeaderBytes;
  const std::uint32_t version = kModelFormatVersion;
  const auto checksum =
      static_cast<std::uint32_t>(crc32(0, bytes.data() + kModelHeaderBytes, static_cast<uInt>(payload)));
  std::memcpy(bytes.data(), "\x8bKWEAVE\n", 8);
  std::memcpy(bytes.data() + 8, &version, sizeof(version));
  std::memcpy(bytes.data() + 12, &checksum, sizeof(checksum));
  std::memcpy(bytes.data() + 16, &payload, sizeof(payload));
  return bytes;
}

/// Whether applying a model costs little; a damaged file may declare anything.
inline bool IsCheaplyApplied(const ModelContent& content) {
  return content.kernels.files.empty() && content.pairs.kernels.empty() && content.kernels.size() <= 64 &&
         content.stored_count() <= 64 && content.machines.size() <= 64 && content.classes.size() <= 64 &&
         std::ranges::all_of(content.samples,
                             [](const View& view) { return ColumnCount(view.features) <= 64; });
}

/// Does with a model that was read from a file what users do with it. Throws Error where applying it is
/// refused, and std::logic_error where something it says of itself is not so.
inline void UseModel(ModelContent content) {
  const auto require = [](bool holds, const char* rule) {
    if (!holds) throw std::logic_error(rule);
  };
  const bool is_cheap = IsCheaplyApplied(content);
  const Model model(std::make_shared<const ModelContent>(std::move(content)));
  require(!model.Describe().empty(), "a model has a description");
  require(!model.ToJson().empty(), "a model can be written as JSON");
  try {
    DeserializeModel(SerializeModel(model.content()));
  } catch (const Error&) {
    throw std::logic_error("a model that was read can be saved and read again");
  }
  if (!is_cheap) return;
  constexpr Index kSamples = 2;
  Dataset data;
  data.size = kSamples;
  for (const auto& [name, columns] : model.views()) {
    data.views.push_back(
        {name, MakeDense(std::vector<double>(kSamples * columns, 0.5), kSamples, columns), {}});
  }
  Context context;
  context.threads = 1;
  context.memory_bytes = std::size_t{1} << 24;
  const auto decision = model.Predict(data, context).decision;
  require(decision.size() == static_cast<std::size_t>(kSamples * model.outputs()),
          "a model has one value per sample and output");
}

}  // namespace kweave

#endif  // KWEAVE_TESTS_SUPPORT_USE_MODEL_H_
