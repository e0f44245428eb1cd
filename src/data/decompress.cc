#include "data/decompress.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
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

/// A growing output buffer that refuses to outgrow the memory there is. realloc moves large blocks by their
/// pages, so growing neither copies nor clears them, and what is not written never becomes resident.
class Output {
 public:
  explicit Output(const std::string& name) : name_(name), limit_(AvailableMemoryBytes()) {}

  /// Makes room behind what is written and returns how much there is.
  std::size_t Reserve() {
    if (written_ == capacity_) {
      if (written_ > limit_ / 2) {
        throw Error(ErrorKind::kResource,
                    fmt::format("{}: decompresses to more than {} bytes, which do not fit into memory", name_,
                                written_));
      }
      Resize(std::max(std::size_t{1} << 16, 2 * written_));
    }
    return capacity_ - written_;
  }
  char* position() { return bytes_.get() + written_; }
  void Advance(std::size_t count) { written_ += count; }
  FileBytes Take() {
    if (written_ > 0) Resize(written_);
    const std::shared_ptr<const void> owner(std::move(bytes_));
    return {name_, {static_cast<const char*>(owner.get()), written_}, owner, false};
  }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  void Resize(std::size_t capacity) {
    char* const moved = static_cast<char*>(std::realloc(bytes_.get(), capacity));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(bytes_.release());
    bytes_.reset(moved);
    capacity_ = capacity;
  }

  const std::string& name_;
  const std::size_t limit_;
  std::unique_ptr<char, Free> bytes_;
  std::size_t capacity_ = 0;
  std::size_t written_ = 0;
};

FileBytes DecompressGzip(std::string_view bytes, const std::string& name) {
  z_stream stream{};
  constexpr int kGzipOnly = 16;  // zlib.h: added to the window, asks for a gzip header and no other
  if (inflateInit2(&stream, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  Output output(name);
  constexpr std::size_t kMaxStep = std::numeric_limits<uInt>::max();  // what zlib can count in one call
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

FileBytes DecompressZstd(std::string_view bytes, const std::string& name) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (context == nullptr) throw std::bad_alloc();
  Output output(name);
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

void RefuseOtherCompression(std::string_view bytes, const std::string& file) {
  const char* name = nullptr;
  if (bytes.starts_with("\xfd"
                        "7zXZ\0"sv))
    name = "xz";
  if (bytes.starts_with("BZh"sv) &&
      bytes.substr(std::min<std::size_t>(bytes.size(), 4)).starts_with("1AY&SY"sv)) {
    name = "bzip2";
  }
  if (bytes.starts_with("PK\3\4"sv)) name = "zip";
  if (name == nullptr) return;
  throw Error(
      ErrorKind::kData,
      fmt::format("{}: this file is compressed with {}, which is not supported, expected gzip, zstd or none",
                  file, name));
}

Compression DetectCompression(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b"sv)) return Compression::kGzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv)) return Compression::kZstd;
  return Compression::kNone;
}

FileBytes Decompress(const FileBytes& file, Compression compression) {
  switch (compression) {
    case Compression::kGzip:
      return DecompressGzip(file.bytes, file.name);
    case Compression::kZstd:
      return DecompressZstd(file.bytes, file.name);
    case Compression::kNone:
      break;
  }
  return file;
}

}  // namespace kweave
