#include "compute/cpu/packed_product.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace kweave {
namespace {

template <class T>
class PackedProductTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PackedProductTest, Types);

TYPED_TEST(PackedProductTest, MatchesPlainLoops) {
  using T = TypeParam;
  Random random(3);
  const double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-13;
  for (Index count : {1, 31, 32, 33, 100}) {
    for (Index features : {0, 1, 7, 50}) {
      PackedSamples<T> right(count, features);
      for (Index j = 0; j < count; ++j) {
        for (Index f = 0; f < features; ++f) right.at(j, f) = static_cast<T>(random.Uniform());
      }
      for (Index rows : {1, 2, 5, 12, 13, 29}) {
        std::vector<T> left(rows * features);
        for (T& value : left) value = static_cast<T>(random.Uniform() - 0.5);
        for (Index begin : {Index{0}, count / kPackedBlock * kPackedBlock}) {
          for (bool add : {false, true}) {
            const Index stride = count - begin + 3;
            std::vector<T> out(rows * stride, T{1});
            PackedProduct<T>(left.data(), rows, right, begin, count, add, out.data(), stride);
            for (Index r = 0; r < rows; ++r) {
              for (Index j = begin; j < count; ++j) {
                double want = add ? 1 : 0;
                for (Index f = 0; f < features; ++f)
                  want += double(left[r * features + f]) * double(right.at(j, f));
                ASSERT_NEAR(out[r * stride + j - begin], want, tolerance);
              }
              for (Index j = count - begin; j < stride; ++j)
                ASSERT_EQ(out[r * stride + j], T{1}) << "wrote past the end";
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace kweave
