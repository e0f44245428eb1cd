#include "compute/cpu/self_products.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/random.h"

namespace kweave {
namespace {

TEST(SelfProducts, AddToTheLowerTriangle) {
  for (const Index length : {1, 3, 70000}) {
    constexpr Index kCount = 3;
    Random random(7);
    std::vector<double> vectors(kCount * length), products(kCount * kCount, 1.0);
    for (double& value : vectors) value = random.Uniform() - 0.5;
    AddSelfProducts(vectors, kCount, length, products);
    for (Index a = 0; a < kCount; ++a) {
      for (Index b = 0; b < kCount; ++b) {
        const auto row = vectors.begin() + a * length;
        const double product = std::inner_product(row, row + length, vectors.begin() + b * length, 0.0);
        EXPECT_NEAR(products[a * kCount + b], b <= a ? 1 + product : 1, 1e-9) << length;
      }
    }
  }
}

}  // namespace
}  // namespace kweave
