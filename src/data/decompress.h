#ifndef KWEAVE_DATA_DECOMPRESS_H_
#define KWEAVE_DATA_DECOMPRESS_H_

#include <string>
#include <string_view>

#include "data/file_bytes.h"

namespace kweave {

enum class Compression { kNone, kGzip, kZstd };

/// Throws Error(kData) when the bytes are those of xz, bzip2 or zip, which are not read.
void RefuseOtherCompression(std::string_view bytes, const std::string& file);

/// Tells compression by its magic bytes, never by a file's name.
Compression DetectCompression(std::string_view bytes);

/// The decompressed bytes under the same name; several concatenated members or frames are one stream.
/// Throws Error(kData) on truncated or corrupt input and Error(kResource) when the result would not fit into
/// memory.
FileBytes Decompress(const FileBytes& file, Compression compression);

}  // namespace kweave

#endif  // KWEAVE_DATA_DECOMPRESS_H_
