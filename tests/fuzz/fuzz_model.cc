// Any bytes as a model file, as they are and behind a header that fits them: they are refused with Error, or make a
// model that can be described, saved again and applied.

#include <zlib.h>

#include <cstring>

#include "fuzz_input.h"
#include "kweave/model.h"
#include "model/content.h"
#include "model/file.h"

namespace {

using namespace kweave;

constexpr std::size_t kHeaderBytes = 24;

std::vector<std::uint8_t> Sealed(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> bytes(data, data + size);
  if (size < kHeaderBytes) return bytes;
  const std::uint64_t payload = size - kHeaderBytes;
  const std::uint32_t version = kModelFormatVersion;
  const auto checksum = static_cast<std::uint32_t>(crc32(0, data + kHeaderBytes, static_cast<uInt>(payload)));
  std::memcpy(bytes.data(), "\x8bKWEAVE\n", 8);
  std::memcpy(bytes.data() + 8, &version, sizeof(version));
  std::memcpy(bytes.data() + 12, &checksum, sizeof(checksum));
  std::memcpy(bytes.data() + 16, &payload, sizeof(payload));
  return bytes;
}

// Applying a model may cost as much as it declares, so only small ones are applied.
bool IsSmall(const ModelContent& content) {
  for (const View& view : content.samples) {
    if (ColumnCount(view.features) > 64) return false;
  }
  return content.kernels.size() <= 64 && content.stored_count() <= 64 && content.machines.size() <= 64;
}

void Apply(const Model& model) {
  Dataset data;
  data.size = 2;
  for (const auto& [name, columns] : model.views()) {
    data.views.push_back({name, MakeDense(std::vector<double>(2 * columns, 0.5), 2, columns), {}});
  }
  Context context;
  context.threads = 1;
  context.memory_bytes = std::size_t{1} << 24;
  Require(model.Predict(data, context).decision.size() == static_cast<std::size_t>(2 * model.outputs()));
}

void Use(ModelContent content) {
  const bool is_small = IsSmall(content) && content.kernels.files.empty();
  const Model model(std::make_shared<const ModelContent>(std::move(content)));
  Require(!model.Describe().empty());
  Require(!model.ToJson().empty());
  DeserializeModel(SerializeModel(model.content()));
  if (is_small) AllowErrors([&] { Apply(model); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  AllowErrors([&] { Use(DeserializeModel({data, size})); });
  AllowErrors([&] { Use(DeserializeModel(Sealed(data, size))); });
  return 0;
}
