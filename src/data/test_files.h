#ifndef KWEAVE_DATA_TEST_FILES_H_
#define KWEAVE_DATA_TEST_FILES_H_

// Helpers for tests that need files: temporary ones, compressed bytes, NumPy bytes, expected messages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kweave/error.h"

namespace kweave {

/// A folder that lives as long as this object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kweave_test_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Writes a file and returns its path.
  std::string Write(const std::string& name, std::string_view bytes) const {
    const std::string path = Path(name);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string Path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string GzipBytes(std::string_view plain) {
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string ZstdBytes(std::string_view plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1));
  return packed;
}

/// A NumPy file with a header of the given version around `payload`.
inline std::string NpyBytes(const std::string& dictionary, std::string_view payload, int version = 1) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::string text = dictionary;
  while ((prefix + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t i = 0; i < prefix - 8; ++i) bytes += static_cast<char>((text.size() >> (8 * i)) & 255);
  return bytes + text + std::string(payload);
}

/// The dictionary of a plain array.
inline std::string NpyDictionary(const std::string& type, const std::string& shape,
                                 bool is_fortran_order = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (is_fortran_order ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

/// The bytes of `values` as they lie in memory.
template <class T>
std::string RawBytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Runs `action` and returns the sentence of the Error(kind) it throws; anything else fails the test.
template <class Action>
std::string SentenceOf(const Action& action, ErrorKind kind = ErrorKind::kData) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace kweave

#endif  // KWEAVE_DATA_TEST_FILES_H_
