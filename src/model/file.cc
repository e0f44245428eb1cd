#include "model/file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "data/sequences.h"
#include "kweave/error.h"
#include "model/cbor_depth.h"
#include "model/encoding.h"

namespace kweave {
namespace {

// The first byte is not ASCII and a line end follows the name, so that transfers that rewrite text break it.
constexpr std::array<std::uint8_t, 8> kMagic = {0x8b, 'K', 'W', 'E', 'A', 'V', 'E', '\n'};

struct Header {
  std::array<std::uint8_t, 8> magic = kMagic;
  std::uint32_t format_version = kModelFormatVersion;
  std::uint32_t checksum = 0;  ///< CRC-32 of the payload
  std::uint64_t payload_bytes = 0;
};
static_assert(sizeof(Header) == 24);

std::uint32_t Checksum(std::span<const std::uint8_t> bytes) {
  uLong crc = crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), std::size_t{1} << 30));
    crc = crc32(crc, piece.data(), static_cast<uInt>(piece.size()));
    bytes = bytes.subspan(piece.size());
  }
  return static_cast<std::uint32_t>(crc);
}

std::span<const std::uint8_t> CheckedPayload(std::span<const std::uint8_t> bytes) {
  Header header;
  if (bytes.size() < kMagic.size() || !std::ranges::equal(bytes.first(kMagic.size()), kMagic)) {
    throw Error(ErrorKind::kData, "not a Kweave model");
  }
  if (bytes.size() < sizeof(Header)) throw Error(ErrorKind::kData, "the model is truncated");
  std::memcpy(&header, bytes.data(), sizeof(Header));
  if (header.format_version == 0 || header.format_version > kModelFormatVersion) {
    throw Error(
        ErrorKind::kData,
        fmt::format("the model has format {}, this version reads formats up to {}; a newer Kweave wrote it",
                    header.format_version, kModelFormatVersion));
  }
  const auto payload = bytes.subspan(sizeof(Header));
  if (payload.size() < header.payload_bytes) {
    throw Error(ErrorKind::kData, fmt::format("the model is truncated: {} of {} bytes are there",
                                              payload.size(), header.payload_bytes));
  }
  if (payload.size() > header.payload_bytes) {
    throw Error(ErrorKind::kData, "the model is damaged: there are bytes after its end");
  }
  if (Checksum(payload) != header.checksum) {
    throw Error(ErrorKind::kData, "the model is damaged: its checksum does not match");
  }
  return payload;
}

}  // namespace

std::uint32_t FormatOf(const ModelContent& content) {
  const auto has_sequences = [](const View& view) { return AsSequences(view.features) != nullptr; };
  if (std::ranges::any_of(content.samples, has_sequences) || content.normalization.KnowsMissingSamples() ||
      !content.transforms.empty()) {
    return 6;
  }
  if (content.problem.is_known) return 5;
  if (!content.pairs.kernels.empty()) return 4;
  if (content.multiclass) return 3;
  return content.task == Task::kClassify ? 1 : 2;
}

std::vector<std::uint8_t> SerializeModel(const ModelContent& content) {
  std::vector<std::uint8_t> bytes(sizeof(Header));
  Json::to_cbor(EncodeModel(content), bytes);
  const auto payload = std::span(bytes).subspan(sizeof(Header));
  Header header;
  header.format_version = FormatOf(content);
  header.checksum = Checksum(payload);
  header.payload_bytes = payload.size();
  std::memcpy(bytes.data(), &header, sizeof(Header));
  return bytes;
}

ModelContent DeserializeModel(std::span<const std::uint8_t> bytes) {
  const auto payload = CheckedPayload(bytes);
  constexpr int kMaximalDepth = 32;  // EncodeModel nests about six levels
  if (!IsCborWithinDepth(payload, kMaximalDepth)) {
    throw Error(ErrorKind::kData, "the model is damaged: its payload is not well formed");
  }
  Json json;
  try {
    json = Json::from_cbor(payload.begin(), payload.end());
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kData, std::string("the model is damaged: ") + error.what());
  }
  return DecodeModel(json);
}

}  // namespace kweave
