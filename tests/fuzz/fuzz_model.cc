// Any bytes as a model file, as they are and behind a header that fits them: they are refused with Error, or
// make a model that can be described, saved again and applied.

#include "fuzz_input.h"
#include "model/file.h"
#include "tests/support/use_model.h"

using namespace kweave;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  AllowErrors([&] { UseModel(DeserializeModel({data, size})); });
  AllowErrors([&] { UseModel(DeserializeModel(Sealed({data, data + size}))); });
  return 0;
}
