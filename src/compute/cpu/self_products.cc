#include "compute/cpu/self_products.h"

#include <cblas.h>

#include <algorithm>

namespace kweave {

void AddSelfProducts(std::span<const double> vectors, Index count, Index length, std::span<double> products) {
  constexpr Index kPiece = Index{1} << 16;  // lengths are int in BLAS, and long ones would leave the cache
  const int size = static_cast<int>(count);
  for (Index begin = 0; begin < length; begin += kPiece) {
    const int piece = static_cast<int>(std::min(kPiece, length - begin));
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, size, piece, 1.0, vectors.data() + begin,
                static_cast<int>(length), 1.0, products.data(), size);
  }
}

}  // namespace kweave
