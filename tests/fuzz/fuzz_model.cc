// Any bytes as a model file, as they are and behind a header that fits them: they are refused with Error, or
// make a model that can be described, saved again and applied. Half of the changes are made to the bytes,
// half to the values of a model that can be decoded (tests/support/mutate_model.h).

#include <algorithm>

#include "fuzz_input.h"
#include "model/cbor_depth.h"
#include "model/file.h"
#include "tests/support/mutate_model.h"
#include "tests/support/use_model.h"

using namespace kweave;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  constexpr int kMostLevels = 32;  // as the loader allows
  const std::span<const std::uint8_t> bytes(data, size);
  const bool is_model =
      size > kModelHeaderBytes && IsCborWithinDepth(bytes.subspan(kModelHeaderBytes), kMostLevels);
  if (seed % 2 == 0 || !is_model) return LLVMFuzzerMutate(data, size, max_size);
  const Json payload = Json::from_cbor(bytes.subspan(kModelHeaderBytes), /*strict=*/true,
                                       /*allow_exceptions=*/false);
  if (payload.is_discarded()) return LLVMFuzzerMutate(data, size, max_size);
  const std::vector<std::uint8_t> file = ModelMutator::Seal(ModelMutator(seed).Mutate(payload));
  if (file.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::ranges::copy(file, data);
  return file.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  AllowErrors([&] { UseModel(DeserializeModel({data, size})); });
  AllowErrors([&] { UseModel(DeserializeModel(Sealed({data, data + size}))); });
  return 0;
}
