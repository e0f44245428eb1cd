#ifndef KWEAVE_DATA_FILE_BYTES_H_
#define KWEAVE_DATA_FILE_BYTES_H_

#include <memory>
#include <string>
#include <string_view>

namespace kweave {

/// The bytes of one input and the name that messages give it.
struct FileBytes {
  std::string name;
  std::string_view bytes;
  std::shared_ptr<const void> owner;  ///< keeps `bytes` alive
  bool is_mapped = false;             ///< backed by the file itself: pages can be dropped and read again
};

/// Maps a plain file into memory; reads a pipe, or standard input for "-"; decompresses gzip and zstd, told
/// by their magic bytes. Throws Error(kData) when the file is missing, unreadable, a directory, empty,
/// truncated or corrupt.
/// A pipe or device may hold `most_bytes`; 0: what fits into half of the free memory.
FileBytes OpenFileBytes(const std::string& path, std::size_t most_bytes = 0);

/// Takes over `bytes`, decompressing them if they carry a magic.
FileBytes MakeFileBytes(std::string name, std::string bytes);

}  // namespace kweave

#endif  // KWEAVE_DATA_FILE_BYTES_H_
