#include "data/matrix_file.h"
#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kweave;
  AllowErrors([&] {
    const MatrixFile matrix = MatrixFile::Parse(FuzzFile(data, size));
    Require(matrix.rows() > 0 && matrix.cols() > 0);
    std::vector<double> row(static_cast<std::size_t>(matrix.cols()));
    for (Index i = 0; i < matrix.rows(); ++i) {
      matrix.Rows(i, 1, row.data(), matrix.cols());
      for (const double value : row) Require(std::isfinite(value));
    }
  });
  return 0;
}
