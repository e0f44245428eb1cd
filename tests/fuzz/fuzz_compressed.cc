#include "data/decompress.h"
#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kweave;
  const FileBytes file = FuzzFile(data, size);
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    AllowErrors([&] { Decompress(file, compression); });
  }
  return 0;
}
