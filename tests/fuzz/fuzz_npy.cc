#include "data/npy_reader.h"
#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kweave;
  const FileBytes file = FuzzFile(data, size);
  AllowErrors([&] {
    const DenseMatrix matrix = ReadNpyMatrix(file);
    CheckFinite(matrix, file.name);
    RequireFinite(ToFeatures(matrix));
  });
  AllowErrors([&] {
    const Labels labels = ReadNpyLabels(file);
    Require(!labels.empty() && (labels.number.empty() || labels.is_numeric()));
  });
  return 0;
}
