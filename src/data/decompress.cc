#include "data/decompress.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "base/memory.h"
#include "kweave/error.h"

namespace kweave {
namespace {

using std::string_view_literals::operator""sv;

[[noreturn]] void FailCorrupt(const std::string& name, const char* format, const char* reason) {
  throw Error(ErrorKind::kData,
              fmt::format("{}: the {} stream is corrupt ({}), expected a whole file", name, format, reason));
}

/// A growing output buffer that refuses to outgrow the memory there is.
class Output {
 public:
  /// `announced_bytes` is what the stream says about its size; believed as far as compression usually goes.
  Output(const std::string& name, std::size_t compressed_bytes, std::size_t announced_bytes)
      : name_(name),
        limit_(AvailableMemoryBytes()),
        first_bytes_(std::clamp(announced_bytes, kBlockBytes, kBlockBytes + kUsualRatio * compressed_bytes) +
                     1) {}

  /// Makes room behind what is written and returns how much there is.
  std::size_t Reserve() {
    if (written_ == bytes_.size()) {
      if (written_ > limit_ / 2) {
        throw Error(ErrorKind::kResource,
                    fmt::format("{}: decompresses to more than {} bytes, which do not fit into memory", name_,
                                written_));
      }
      bytes_.resize(std::max(first_bytes_, 2 * written_));
    }
    return bytes_.size() - written_;
  }
  char* position() { return bytes_.data() + written_; }
  void Advance(std::size_t count) { written_ += count; }
  std::string Take() {
    bytes_.resize(written_);
    if (bytes_.capacity() > written_ + written_ / 4) bytes_.shrink_to_fit();
    return std::move(bytes_);
  }

 private:
  static constexpr std::size_t kBlockBytes = 1 << 16;
  static constexpr std::size_t kUsualRatio = 20;

  const std::string& name_;
  const std::size_t limit_;
  const std::size_t first_bytes_;
  std::string bytes_;
  std::size_t written_ = 0;
};

/// The last four bytes of a gzip stream: the plain size of its last member, modulo 2^32.
std::size_t GzipContentBytes(std::string_view bytes) {
  std::uint32_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data() + bytes.size() - sizeof size, sizeof size);
  return size;
}

std::string DecompressGzip(std::string_view bytes, const std::string& name) {
  z_stream stream{};
  constexpr int kGzipOnly = 16;
  if (inflateInit2(&stream, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  Output output(name, bytes.size(), GzipContentBytes(bytes));
  constexpr std::size_t kMaxStep = std::numeric_limits<uInt>::max();
  std::size_t consumed = 0;
  while (true) {
    const std::size_t room = std::min(output.Reserve(), kMaxStep);
    const std::size_t input = std::min(bytes.size() - consumed, kMaxStep);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + consumed));
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = reinterpret_cast<Bytef*>(output.position());
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    consumed += input - stream.avail_in;
    output.Advance(room - stream.avail_out);
    if (status == Z_STREAM_END) {
      if (DetectCompression(bytes.substr(consumed)) != Compression::kGzip) break;
      inflateReset(&stream);
    } else if (status == Z_BUF_ERROR ||
               (status == Z_OK && consumed == bytes.size() && stream.avail_out > 0)) {
      FailCorrupt(name, "gzip", "it ends too early");
    } else if (status != Z_OK) {
      FailCorrupt(name, "gzip", stream.msg != nullptr ? stream.msg : "bad data");
    }
  }
  // gzip itself ignores zero padding after the last member, as tapes leave it.
  if (bytes.find_first_not_of('\0', consumed) != std::string_view::npos) {
    FailCorrupt(name, "gzip", "other bytes follow its end");
  }
  return output.Take();
}

/// What the first frame says about its plain size; a guess where it says nothing.
std::size_t ZstdContentBytes(std::string_view bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ? 4 * bytes.size() : size;
}

std::string DecompressZstd(std::string_view bytes, const std::string& name) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (context == nullptr) throw std::bad_alloc();
  Output output(name, bytes.size(), ZstdContentBytes(bytes));
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  std::size_t missing = 1;  // zero at the end of a frame
  bool room_left = false;   // the decoder had room and wrote less: nothing is pending inside it
  while (input.pos < input.size || (missing != 0 && !room_left)) {
    const std::size_t room = output.Reserve();
    ZSTD_outBuffer out{output.position(), room, 0};
    missing = ZSTD_decompressStream(context.get(), &out, &input);
    if (ZSTD_isError(missing)) FailCorrupt(name, "zstd", ZSTD_getErrorName(missing));
    output.Advance(out.pos);
    room_left = out.pos < out.size;
  }
  if (missing != 0) FailCorrupt(name, "zstd", "it ends too early");
  return output.Take();
}

}  // namespace

Compression DetectCompression(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b"sv)) return Compression::kGzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv)) return Compression::kZstd;
  return Compression::kNone;
}

std::string Decompress(std::string_view bytes, Compression compression, const std::string& name) {
  switch (compression) {
    case Compression::kGzip:
      return DecompressGzip(bytes, name);
    case Compression::kZstd:
      return DecompressZstd(bytes, name);
    case Compression::kNone:
      break;
  }
  return std::string(bytes);
}

}  // namespace kweave
