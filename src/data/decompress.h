#ifndef KWEAVE_DATA_DECOMPRESS_H_
#define KWEAVE_DATA_DECOMPRESS_H_

#include <string>
#include <string_view>

namespace kweave {

enum class Compression { kNone, kGzip, kZstd };

/// Tells compression by its magic bytes, never by a file's name.
Compression DetectCompression(std::string_view bytes);

/// The decompressed bytes; several concatenated members or frames are one stream. `name` is for messages.
/// Throws Error(kData) on truncated or corrupt input and Error(kResource) when the result would not fit into
/// memory.
std::string Decompress(std::string_view bytes, Compression compression, const std::string& name);

}  // namespace kweave

#endif  // KWEAVE_DATA_DECOMPRESS_H_
